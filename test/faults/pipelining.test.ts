// Requests that a socket sends without waiting for answers: a thousand of one tenant, or of a stranger, are not
// answered before everyone else's. A few are, in order (hardening.md S18).
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Socket } from "node:net";
import { ProcessGateway } from "../support/process-gateway.ts";
import { openSocket } from "../support/raw.ts";

const SOCKETS = 20;
const PIPELINED = 600;
const CALLS = 10;
const ROUNDS = 6;
/** About 30 beside other tests; 2,000 if everything received was answered first. */
const MEDIAN_MS = 500;
const ASK = { model: "plain-1", messages: [{ role: "user", content: "x" }], max_tokens: 1 };

let gateway: ProcessGateway;
let greedy: { secret: string };
let other: { secret: string };
beforeAll(async () => {
  gateway = await ProcessGateway.start();
  [greedy, other] = [await gateway.customer(), await gateway.customer()];
  for (let n = 0; n < 20; n += 1) await gateway.chat(other.secret, ASK);
}, 120_000);
afterAll(() => gateway.stop());

const requestOf = (target: string, secret: string): string =>
  `${target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\n\r\n`;
const posted = (secret: string): string => {
  const body = JSON.stringify(ASK);
  return `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
};

/** Sockets that send so many requests at once, again and again, ignoring the results. */
function flood(request: string): () => void {
  const all = Buffer.from(request.repeat(PIPELINED));
  const sockets = new Set<Socket>();
  let ended = false;
  const open = (): void => {
    if (ended) return;
    const socket = openSocket(gateway.address);
    sockets.add(socket);
    let answers = 0;
    socket.on("data", (bytes) => {
      answers += bytes.toString("latin1").match(/HTTP\/1\.1 /g)?.length ?? 0;
      if (answers >= PIPELINED && socket.write(all)) answers = 0;
    });
    socket.on("close", () => {
      sockets.delete(socket);
      setTimeout(open, 20);
    });
    socket.write(all);
  };
  for (let n = 0; n < SOCKETS; n += 1) open();
  return () => {
    ended = true;
    for (const socket of sockets) socket.destroy();
  };
}

/** The median of another tenant's calls meanwhile, milliseconds. */
async function others(): Promise<number> {
  const tookMs: number[] = [];
  for (let n = 0; n < CALLS; n += 1) {
    const began = performance.now();
    expect((await gateway.chat(other.secret, ASK)).status).toBe(200);
    tookMs.push(performance.now() - began);
  }
  return tookMs.sort((a, b) => a - b)[CALLS / 2] ?? 0;
}

test.each([
  ["looks at its key", () => requestOf("GET /v1/key", greedy.secret)],
  ["calls without a key", () => posted("gw_sk_none")],
  ["calls", () => posted(greedy.secret)],
])(
  "20 sockets with 600 %s each, again and again: others are answered",
  async (_what, request) => {
    const usualMs = await others(); // what a slow machine takes anyway
    const medians: number[] = [];
    // The best round counts: other work on the machine may have disturbed the rest.
    while (medians.length < ROUNDS && !(Math.min(...medians) < MEDIAN_MS + usualMs)) {
      const end = flood(request());
      await Bun.sleep(200);
      medians.push(await others());
      end();
    }
    console.info(`medians of others ${medians.map((ms) => ms.toFixed(0)).join(", ")} ms`);
    expect(Math.min(...medians)).toBeLessThan(MEDIAN_MS + usualMs);
  },
  120_000,
);

test("twenty pipelined requests of one socket are answered in order", async () => {
  const socket = openSocket(gateway.address);
  const reply = await new Promise<string>((resolve) => {
    let text = "";
    socket.on("data", (bytes) => {
      text += bytes.toString("latin1");
      if ((text.match(/HTTP\/1\.1 /g) ?? []).length === 20 && text.endsWith("}")) resolve(text);
    });
    socket.on("close", () => resolve(text));
    const pair = requestOf("GET /v1/key", greedy.secret) + requestOf("GET /v1/key", "gw_sk_none");
    socket.write(pair.repeat(10));
  });
  socket.destroy();
  const statuses = [...reply.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
  expect(statuses).toEqual(Array.from({ length: 10 }, () => ["200", "401"]).flat());
});
