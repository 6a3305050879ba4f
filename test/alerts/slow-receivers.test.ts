// Receivers that hang, in the rounds of a running gateway: only their own organization waits.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { startGateway, type TestGateway } from "../support/gateway.ts";
import { waitFor } from "../support/wait.ts";
import { type Receiver, startReceiver } from "./receiver.ts";
import { TRY_MS } from "../../src/alerts/sent.ts";

let gateway: TestGateway;
let good: Receiver;
/** Accepts every message and answers none. */
let hanging: ReturnType<typeof Bun.serve>;
let called = 0;

beforeAll(async () => {
  gateway = await startGateway({
    configure: (config) => {
      config.alerts.privateTargets = true;
    },
  });
  good = startReceiver();
  hanging = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 60,
    fetch: () => {
      called += 1;
      return new Promise<Response>(() => {});
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([hanging.stop(true), good.stop()]);
}, 120_000);

/** An organization with a webhook there; returns how to send a message to it. */
async function webhookAt(target: string): Promise<() => Promise<unknown>> {
  const { organizationId } = await gateway.customer();
  const { channel } = await gateway.alerts.addWebhook(organizationId, { name: "Pager", target });
  return () => gateway.alerts.sendTest(organizationId, channel.id);
}
/** Milliseconds until a message sent now arrives. */
async function arrives(send: () => Promise<unknown>): Promise<number> {
  const before = good.arrived.length;
  const sentAt = performance.now();
  await send();
  await waitFor(() => Promise.resolve(good.arrived.length > before), "the message to arrive");
  return performance.now() - sentAt;
}

test("a receiver that hangs delays no other organization's message", async () => {
  const send = await webhookAt(good.url);
  await (await webhookAt(hanging.url.href))();
  await waitFor(() => Promise.resolve(called > 0), "the first to hang");
  expect(await arrives(send)).toBeLessThan(TRY_MS);
}, 120_000);

test("nor do twelve that have hung for 30 messages each: a free place goes to the organization served longest ago", async () => {
  const send = await webhookAt(good.url);
  for (let tenant = 0; tenant < 12; tenant += 1) {
    const hang = await webhookAt(hanging.url.href);
    for (let message = 0; message < 30; message += 1) await hang();
  }
  const before = called;
  await waitFor(() => Promise.resolve(called > before + 20), "all places to hang");
  expect(await arrives(send)).toBeLessThan(4 * TRY_MS);
}, 120_000);

test("nor does one keep a gateway from stopping: the next one resends what hangs", async () => {
  const began = performance.now();
  await gateway.restart();
  const usualMs = performance.now() - began; // what a slow machine takes anyway
  const hang = await webhookAt(hanging.url.href);
  const before = called;
  await hang();
  await waitFor(() => Promise.resolve(called > before), "a message to hang");
  const toldAt = performance.now();
  await gateway.restart();
  expect(performance.now() - toldAt).toBeLessThan(usualMs + 0.8 * TRY_MS);
}, 120_000);
