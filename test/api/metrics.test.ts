// Every figure of /metrics moves: one that nothing moves would be watched for ever and say nothing.
import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import { RequestLog } from "../../src/operator/request-log.ts";
import { Collector } from "../support/collector.ts";
import { type Customer, hello, startGateway, type TestGateway } from "../support/gateway.ts";
import { waitFor } from "../support/wait.ts";

let gateway: TestGateway;
let customer: Customer;
let collector: Collector;
beforeAll(async () => {
  collector = new Collector();
  gateway = await startGateway({
    configure: (config) => {
      config.limits.maxConcurrent = 1;
      config.tracing = {
        url: `${collector.url}/v1/traces`,
        headers: {},
        resource: { "service.name": "tollgate" },
        sampling: { sampler: "always_on", ratio: 1 },
        timeoutMs: 5_000,
        intervalMs: 20,
      };
    },
  });
  customer = await gateway.customer({ usd: "100" });
});
afterAll(async () => {
  await gateway.stop();
  await collector.stop();
});

interface Sample {
  name: string;
  labels: string;
  value: number;
}

async function samples(): Promise<Sample[]> {
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  return text
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => {
      const [, name = "", labels = "", value] = /^(\w+)(\{.*\})? (\S+)$/.exec(line) ?? [];
      return { name, labels, value: Number(value) };
    });
}

/** The names that the registry announces, with or without a sample. */
async function announced(): Promise<string[]> {
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  return [...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name ?? "");
}

const sumOf = (all: readonly Sample[], name: string): number =>
  all.filter((sample) => sample.name === name).reduce((sum, { value }) => sum + value, 0);

const sumNow = async (name: string): Promise<number> => sumOf(await samples(), name);

/** What makes each figure of ours move; a figure without a scenario fails the test. */
const SCENARIOS: Record<string, () => Promise<unknown>> = {
  tollgate_responses_total: () => gateway.chat(customer, hello()),
  tollgate_attempts_total: () => gateway.chat(customer, hello()),
  tollgate_retries_without_idempotency_key_total: () =>
    gateway.chat(customer, hello(), { "x-stainless-retry-count": "1" }),
  tollgate_abandoned_holds_total: async () => {
    const never = new Error("the ledger refuses whatever it is told");
    const spies = [gateway.ledger].flatMap((ledger) => [
      spyOn(ledger, "settle").mockRejectedValue(never),
      spyOn(ledger, "void").mockRejectedValue(never),
    ]);
    await gateway.chat(customer, hello());
    for (const spy of spies) spy.mockRestore();
  },
  tollgate_overload_refusals_total: () => whileStreaming(() => gateway.chat(customer, hello())),
  tollgate_limit_refusals_total: () => whileStreaming(() => gateway.chat(customer, hello())),
  tollgate_provider_doubts_total: () => {
    const usage = { prompt_tokens: 1_000_000, completion_tokens: 1_000_000 };
    gateway.simulator.behave({ behaviour: { usage }, calls: 1 });
    return gateway.chat(customer, hello());
  },
  tollgate_failed_jobs_total: async () => {
    const flush = spyOn(RequestLog.prototype, "flush").mockRejectedValueOnce(new Error("a job that failed"));
    await waitFor(() => Promise.resolve(flush.mock.calls.length > 1), "the next round of the request log");
    flush.mockRestore();
  },
  tollgate_quarantined_requests: () => {
    const pulse = gateway.ledger.pulse();
    spyOn(gateway.ledger, "pulse").mockReturnValue({ ...pulse, quarantined: 1 });
    return Promise.resolve(); // by a record that is really damaged: test/faults/rotten.test.ts
  },
  tollgate_spans_exported_total: async () => {
    const before = await sumNow("tollgate_spans_exported_total");
    await gateway.chat(customer, hello());
    await waitFor(async () => (await sumNow("tollgate_spans_exported_total")) > before, "an export");
  },
  tollgate_spans_dropped_total: async () => {
    collector.behave = () => new Response("no", { status: 400 });
    await gateway.chat(customer, hello());
    await waitFor(async () => (await sumNow("tollgate_spans_dropped_total")) > 0, "a refused export");
    collector.behave = () => Response.json({});
  },
  tollgate_spans_waiting: async () => {
    await waitFor(async () => (await sumNow("tollgate_spans_waiting")) === 0, "an empty queue");
    collector.behave = () => new Promise(() => {});
    await gateway.chat(customer, hello());
  },
  tollgate_open_streams: () => Promise.resolve(), // read while a stream is open, below
};

async function whileStreaming<T>(look: () => Promise<T>): Promise<T> {
  gateway.simulator.behave({ behaviour: { tokens_per_second: 50, completion_tokens: 500 }, calls: 1 });
  const leaving = new AbortController();
  const reply = await fetch(`${gateway.baseUrl}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${customer.secret}`, "content-type": "application/json" },
    body: JSON.stringify({ ...hello(), stream: true, max_tokens: 600 }),
    signal: leaving.signal,
  });
  await reply.body?.getReader().read();
  const seen = await look();
  leaving.abort();
  for (let left = 200; left > 0 && sumOf(await samples(), "tollgate_open_streams") > 0; left -= 1)
    await Bun.sleep(20);
  return seen;
}

test("every figure of ours has a scenario that moves it", async () => {
  const ours = (await announced()).filter((name) => name.startsWith("tollgate_"));
  expect(Object.keys(SCENARIOS).toSorted()).toEqual(ours.toSorted());
  for (const [name, happens] of Object.entries(SCENARIOS)) {
    const before = sumOf(await samples(), name);
    const during =
      name === "tollgate_open_streams" ? await whileStreaming(samples) : (await happens(), await samples());
    expect([name, sumOf(during, name) > before]).toEqual([name, true]);
  }
});

test("attempts are told by provider and by how they ended, and by nothing that grows", async () => {
  gateway.simulator.behave({ behaviour: { status: 429 }, calls: 1 });
  await gateway.chat(customer, hello());
  gateway.simulator.behave({ behaviour: { status: 400 }, calls: 1 });
  await gateway.chat(customer, hello());
  const labels = (await samples())
    .filter(({ name }) => name === "tollgate_attempts_total")
    .map((one) => one.labels);
  expect(labels).toContain('{provider="simulator",outcome="answered"}');
  expect(labels).toContain('{provider="simulator",outcome="rate_limited"}');
  expect(labels).toContain('{provider="simulator",outcome="rejected"}');
});

test("a limit that is reached is told by its setting's name", async () => {
  await whileStreaming(() => gateway.chat(customer, hello()));
  const labels = (await samples())
    .filter(({ name }) => name === "tollgate_limit_refusals_total")
    .map((one) => one.labels);
  expect(labels).toEqual(['{limit="max_concurrent"}']);
});

/** Zero while nothing is wrong or nobody writes, and yet read from something. */
const MAY_BE_ZERO = /^nodejs_eventloop_lag_seconds$/;

test("no figure of the runtime stands at zero for ever", async () => {
  await samples(); // the lag is measured from one look to the next
  const busyUntilMs = performance.now() + 50;
  while (performance.now() < busyUntilMs);
  await Bun.sleep(300);
  const all = await samples();
  const others = (await announced()).filter(
    (name) => !name.startsWith("tollgate_") && !MAY_BE_ZERO.test(name),
  );
  expect(others.filter((name) => sumOf(all, name) === 0)).toEqual([]);
});
