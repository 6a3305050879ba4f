// Keep-alive sockets after an answer: whatever was requested, they are closed after the idle time, and none before
// its answer is complete (wire.md §6, hardening.md S18). Bun counts in steps of four seconds.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { loadConfig } from "../../src/config/config.ts";
import { type Customer, hello, startGateway, type TestGateway } from "../support/gateway.ts";
import { MODELS, PLAIN, VECTORS } from "../support/models.ts";
import { Kept } from "../support/kept.ts";
import { waitFor } from "../support/wait.ts";

/** One step. */
const SHORT_MS = 1_000;
/** More than one step, and less than the interval of a silent stream's comments. */
const SILENT_MS = 9_000;

let gateway: TestGateway;
let customer: Customer;
beforeAll(async () => {
  gateway = await startGateway({
    models: [...MODELS, VECTORS],
    configure: ({ limits }) => {
      limits.keepAliveMs = SHORT_MS;
      limits.headerTimeoutMs = 120_000;
      limits.streamIdleMs = 120_000;
    },
  });
  customer = await gateway.customer();
});
afterAll(() => gateway.stop());

const CHAT = "POST /v1/chat/completions";
const bearer = (): string => `Authorization: Bearer ${customer.secret}`;

test("a socket is closed after each kind of answer: refused, whole, streamed, replayed, large, and of every other endpoint", async () => {
  const ask = hello(PLAIN.model);
  const key = "Idempotency-Key: kept-alive-1";
  await gateway.chat(customer, ask, { "idempotency-key": "kept-alive-1" });
  const many = { model: VECTORS.model, input: Array.from({ length: 2_000 }, () => "word") };
  const asked: Record<string, [status: number, target: string, body?: unknown, ...headers: string[]]> = {
    refused: [404, CHAT, { ...ask, model: "nope" }, bearer()],
    unread: [401, CHAT, ask],
    whole: [200, CHAT, ask, bearer()],
    streamed: [200, CHAT, { ...ask, stream: true }, bearer()],
    replayed: [200, CHAT, ask, bearer(), key],
    large: [200, "POST /v1/embeddings", many, bearer()],
    quote: [200, `${CHAT}/quote`, ask, bearer()],
    models: [200, "GET /v1/models", null, bearer()],
    health: [200, "GET /healthz"],
    nowhere: [404, "GET /v1/nowhere"],
    preflight: [204, "OPTIONS /v1/models"],
    webhook: [400, "POST /webhooks/stripe", {}, "Stripe-Signature: t=1,v1=00"],
    device: [200, "POST /device/code", { client_id: "tollgate-cli", host: "h", version: "1" }],
    operator: [401, "GET /admin/v1/organizations"],
    session: [200, "GET /app/v1/session"],
  };
  const sockets = await Promise.all(
    Object.entries(asked).map(async ([name, [status, target, body, ...headers]]) => {
      const kept = new Kept(gateway.url);
      kept.ask(target, body, ...headers);
      expect(`${name}: ${(await kept.answered()).slice(0, 12)}`).toBe(`${name}: HTTP/1.1 ${status}`);
      return { name, kept };
    }),
  );
  expect(sockets.find(({ name }) => name === "large")?.kept.text.length).toBeGreaterThan(128 * 1024);
  const open = (): string[] => sockets.filter(({ kept }) => !kept.closed).map(({ name }) => name);
  await waitFor(async () => open().length === 0, "them to be closed").catch(() => {});
  expect(open()).toEqual([]);
}, 120_000);

test("a provider that is silent for longer than that cuts no answer, whole or streamed, nor a following one", async () => {
  gateway.simulator.behave({ behaviour: { latency_ms: SILENT_MS }, calls: 3 });
  const ask = hello(PLAIN.model);
  const answers = await Promise.all(
    [ask, { ...ask, stream: true }, ask].map(async (body, n) => {
      const kept = new Kept(gateway.url);
      if (n === 2) {
        kept.ask("GET /healthz");
        await kept.answered();
      }
      kept.ask(CHAT, body, bearer());
      return await kept.answered(n === 2 ? 2 : 1);
    }),
  );
  for (const answer of answers) expect(answer).toContain('"finish_reason":"');
}, 120_000);

test("a socket that has had an answer stays open longer than one that has requested nothing, by more than a proxy's 60 seconds", async () => {
  const patient = await startGateway({
    configure: ({ limits }) => {
      limits.headerTimeoutMs = SHORT_MS;
      limits.keepAliveMs = 17_000;
    },
  });
  try {
    const asked = new Kept(patient.url);
    asked.ask("GET /healthz");
    await asked.answered();
    const silent = new Kept(patient.url);
    await waitFor(async () => silent.closed, "the silent one to be closed");
    asked.ask("GET /healthz");
    expect((await asked.answered(2)).match(/HTTP\/1\.1 200/g)).toHaveLength(2);
  } finally {
    await patient.stop();
  }
  expect(loadConfig({ env: {}, cwd: patient.dataDir, flags: {} }).limits.keepAliveMs).toBe(75_000);
}, 120_000);
