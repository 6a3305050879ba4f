// Bodies that never end: the memory they hold is limited in total and per organization, whoever sends them, and they
// end at the upload timeout (hardening.md S18).
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { ProcessGateway } from "../support/process-gateway.ts";
import { openSocket } from "../support/raw.ts";
import { waitFor } from "../support/wait.ts";

const MEGABYTE = 1024 * 1024;
const UPLOADS = 120;
const BODY = 8 * MEGABYTE;
/** Of one organization: a quarter of the total of 128 MiB; received data is copied once while it grows. */
const AT_MOST_MB = 2 * 32 + 40;

let gateway: ProcessGateway;
let greedy: { secret: string };
let other: { secret: string };
const sockets: Socket[] = [];
beforeAll(async () => {
  gateway = await ProcessGateway.start();
  [greedy, other] = [await gateway.customer(), await gateway.customer()];
  await gateway.chat(other.secret, ask(1));
}, 120_000);
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await gateway.stop();
});

const ask = (kilobytes: number): object => ({
  model: "plain-1",
  messages: [{ role: "user", content: "x".repeat(kilobytes * 1024) }],
  max_tokens: 1,
});

const residentMb = (): number => {
  const status = readFileSync(`/proc/${gateway.pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
};

interface Unfinished {
  statuses: string[];
  closed: number;
}

/** Begins bodies and leaves out the last megabyte of each. */
async function begin(secret: string, framing: "declared" | "chunked"): Promise<Unfinished> {
  const seen: Unfinished = { statuses: [], closed: 0 };
  const length = framing === "declared" ? `Content-Length: ${BODY}` : "Transfer-Encoding: chunked";
  const piece = Buffer.alloc(MEGABYTE, " ");
  const written = Array.from({ length: UPLOADS }, () => {
    const socket = openSocket(gateway.address);
    sockets.push(socket);
    socket.on("close", () => (seen.closed += 1));
    socket.on("data", (bytes) => {
      const status = /^HTTP\/1\.1 (\d{3}) .*retry-after: \d/is.exec(bytes.toString("latin1"))?.[1];
      if (status !== undefined) seen.statuses.push(status);
    });
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\nContent-Type: application/json\r\n${length}\r\n\r\n`,
    );
    return new Promise<void>((resolve) => {
      let sent = 0;
      const more = (): void => {
        while (sent < BODY / MEGABYTE - 1) {
          sent += 1;
          if (framing === "chunked") socket.write(`${MEGABYTE.toString(16)}\r\n`);
          const taken = socket.write(piece);
          if (framing === "chunked") socket.write("\r\n");
          if (!taken) return void socket.once("drain", more);
        }
        resolve();
      };
      more();
    });
  });
  await Promise.race([Promise.all(written), Bun.sleep(20_000)]);
  return seen;
}

test.each(["declared", "chunked"] as const)(
  "120 unfinished bodies (%s) of one valid key hold a bounded share; other organizations are served meanwhile",
  async (framing) => {
    const before = residentMb();
    const seen = await begin(greedy.secret, framing);
    await waitFor(async () => seen.statuses.length >= UPLOADS - 10, "the refusals");
    expect(new Set(seen.statuses)).toEqual(new Set(["429"]));
    expect(residentMb() - before).toBeLessThan(AT_MOST_MB);
    expect((await gateway.chat(other.secret, ask(3_000))).status).toBe(400); // read completely, and too long for the model
    expect((await gateway.chat(other.secret, ask(1))).status).toBe(200);
    expect((await gateway.chat(greedy.secret, ask(1))).status).not.toBe(503);
    for (const socket of sockets.splice(0)) socket.destroy();
    await waitFor(async () => (await gateway.chat(greedy.secret, ask(7_000))).status === 400, "its room");
  },
  120_000,
);

test("a body that trickles is cut at the upload limit, and its room is free again", async () => {
  const begunAtMs = performance.now();
  let refused = 0;
  const trickling = Array.from({ length: 5 }, () => {
    const socket = openSocket(gateway.address);
    sockets.push(socket);
    socket.on("data", (bytes) => {
      if (bytes.toString("latin1").startsWith("HTTP/1.1 429 ")) refused += 1;
    });
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${greedy.secret}\r\nContent-Type: application/json\r\nContent-Length: ${BODY - 1024}\r\n\r\n{`,
    );
    socket.write(Buffer.alloc(7 * MEGABYTE, " "));
    return socket;
  });
  const dripping = setInterval(() => trickling.forEach((socket) => socket.write(" ")), 500);
  await waitFor(async () => refused === 1, "its share to be taken"); // four fit, one is too many
  expect((await gateway.chat(greedy.secret, ask(7_000))).status).toBe(429);
  while ((await gateway.chat(greedy.secret, ask(7_000))).status !== 400) await Bun.sleep(500);
  clearInterval(dripping);
  expect(performance.now() - begunAtMs).toBeGreaterThan(20_000);
}, 120_000);
