// A refusal that comes before the end of its request's body reaches a client that keeps no connection open (as
// proxies do by default): it is sent after the body, which is read and discarded. Sent at once, it would be lost with
// the connection's reset (wire.md §6).
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";
import { openSocket } from "../support/raw.ts";
import { PATIENCE_MS } from "../support/wait.ts";

const MEGABYTE = 1024 * 1024;
const PIECE = Buffer.alloc(MEGABYTE, " ");

let gateway: TestGateway;
let customer: Customer;
beforeAll(async () => {
  gateway = await startGateway();
  customer = await gateway.customer();
});
afterAll(async () => {
  expect(gateway.simulator.bill()).toEqual([]);
  await gateway.assertSound();
  await gateway.stop();
});

type Framing = "declared" | "chunked";
interface Upload {
  path?: string;
  key?: string;
  type?: string;
  connection: string;
  framing: Framing;
  megabytes: number;
}

/**
 * Writes all of a body before it reads a byte, as simple clients do; returns what came back until the connection
 * ended, or in a second.
 */
function upload({ path = "/v1/chat/completions", ...how }: Upload): Promise<string> {
  const { key = customer.secret, type = "application/json", connection } = how;
  const framing =
    how.framing === "declared" ? `Content-Length: ${how.megabytes * MEGABYTE}` : "Transfer-Encoding: chunked";
  const head = [
    `POST ${path} HTTP/1.1`,
    "Host: x",
    `Authorization: Bearer ${key}`,
    `Content-Type: ${type}`,
    `Connection: ${connection}`,
    framing,
  ];
  return new Promise((resolve) => {
    let reply = "";
    const socket = openSocket(gateway.url);
    socket.pause();
    socket.on("data", (bytes) => {
      reply += bytes.toString("latin1");
      socket.setTimeout(1_000);
    });
    socket.on("close", () => resolve(reply));
    const pieces = Array.from({ length: how.megabytes }, () =>
      how.framing === "declared" ? [PIECE] : [`${MEGABYTE.toString(16)}\r\n`, PIECE, "\r\n"],
    ).flat();
    if (how.framing === "chunked") pieces.push("0\r\n\r\n");
    socket.write(`${head.join("\r\n")}\r\n\r\n`);
    const write = (): void => {
      const piece = pieces.shift();
      if (piece !== undefined) return void socket.write(piece, write);
      socket.resume();
      socket.setTimeout(PATIENCE_MS, () => socket.destroy());
    };
    write();
  });
}

const REFUSALS: [what: string, status: number, code: string, how: Partial<Upload>][] = [
  ["a key that is none", 401, "invalid_api_key", { key: "gw_sk_none" }],
  ["a path that is none", 404, "unknown_url", { path: "/v1/files" }],
  ["another media type", 415, "unsupported_media_type", { type: "text/plain" }],
  ["a body over the limit", 413, "payload_too_large", {}],
  [
    "a management key that is none",
    401,
    "invalid_api_key",
    { path: "/admin/v1/organizations", key: "gw_mk_none" },
  ],
];
const FRAMINGS: readonly Framing[] = ["declared", "chunked"];

test.each(
  REFUSALS.flatMap(([what, status, code, how]) =>
    FRAMINGS.map((framing) => [what, framing, { status, code, how: { ...how, framing } }] as const),
  ),
)("%s, %s: the refusal is read whole", async (_what, _framing, { status, code, how }) => {
  for (const connection of ["close", "TE, Close"]) {
    const reply = await upload({ ...how, connection, megabytes: 20 });
    expect([connection, reply.slice(0, 12)]).toEqual([connection, `HTTP/1.1 ${status}`]);
    const [, body = ""] = reply.split("\r\n\r\n");
    expect(JSON.parse(body)).toMatchObject({ error: { code } });
  }
});

test("a body that never comes is not waited for", async () => {
  const socket = openSocket(gateway.url);
  const headers = "Host: x\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 100";
  const begunAtMs = performance.now();
  socket.write(`POST /v1/chat/completions HTTP/1.1\r\n${headers}\r\n\r\n{`);
  const reply = await new Promise<string>((resolve) =>
    socket.once("data", (bytes) => resolve(bytes.toString())),
  );
  expect(reply).toStartWith("HTTP/1.1 401 ");
  expect(performance.now() - begunAtMs).toBeLessThan(PATIENCE_MS);
  socket.destroy();
});
