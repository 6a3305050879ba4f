// Every figure of /metrics changes: one that never changes would be watched in vain.
import { afterAll, beforeAll, expect, mock, spyOn, test } from "bun:test";
import { noteBackup } from "../../src/store/last-backup.ts";
import { RequestLog } from "../../src/operator/request-log.ts";
import { Collector } from "../support/collector.ts";
import { type Customer, hello, startGateway, type TestGateway } from "../support/gateway.ts";
import { UNCOUNTED } from "../support/models.ts";
import { reads, waitFor } from "../support/wait.ts";

let gateway: TestGateway;
let customer: Customer;
let collector: Collector;
beforeAll(async () => {
  collector = new Collector();
  gateway = await startGateway({
    configure: (config) => {
      config.limits.maxConcurrent = 1;
      config.tracing = collector.tracing({ timeoutMs: 5_000 });
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

/** The declared names, with or without a sample, and their types. */
async function announced(): Promise<Map<string, string>> {
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  return new Map(
    [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name = "", type = ""]) => [name, type]),
  );
}

/** For a histogram its count. */
const samplesOf = (all: readonly Sample[], name: string): Sample[] =>
  all.filter((sample) => sample.name === name || sample.name === `${name}_count`);

const sumOf = (all: readonly Sample[], name: string): number =>
  samplesOf(all, name).reduce((sum, { value }) => sum + value, 0);

const isOurs = (name: string): boolean => /^(tollgate|gen_ai)_/.test(name);

const embedded = process.env["TOLLGATE_TEST_STORE"] !== "postgres";

/** Facts about a running gateway cannot change; the backups of a database are outside it. */
const STANDS_STILL = new Set([
  "tollgate_build_info",
  ...(embedded ? [] : ["tollgate_backup_timestamp_seconds"]),
]);

const DEBT_MORE = "UPDATE org_balance SET debt = debt + 2500000000 WHERE org_id = ?1";

const RESEARCH_ROUTE = "base-research-1@simulator/local";

/** Shown by a spy: test/faults tests what the store really does. */
function pulseOf(shown: { waiting?: number; sweptAtMs?: number }): Promise<void> {
  const pulse = gateway.ledger.pulse();
  spyOn(gateway.ledger, "pulse").mockReturnValue({ ...pulse, ...shown });
  return Promise.resolve();
}

const sumNow = async (name: string): Promise<number> => sumOf(await samples(), name);

/** What changes each of our figures; a figure without a scenario fails the test. */
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
  tollgate_provider_doubts_total: async () => {
    const usage = { prompt_tokens: 1_000_000, completion_tokens: 1_000_000 };
    gateway.simulator.behave({ behaviour: { usage } }); // not for one call: an earlier scenario's may still begin
    await gateway.chat(customer, hello());
    gateway.simulator.behave({ behaviour: {} });
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
  tollgate_resolved_requests_total: () => gateway.chat(customer, hello()),
  tollgate_held_usd_total: () => gateway.chat(customer, hello()),
  tollgate_charged_usd_total: () => gateway.chat(customer, hello()),
  tollgate_request_duration_seconds: () => gateway.chat(customer, hello()),
  tollgate_first_part_seconds: () => gateway.stream(customer, hello()),
  gen_ai_client_token_usage: () => gateway.chat(customer, hello()),
  gen_ai_client_operation_duration_seconds: () => gateway.chat(customer, hello()),
  gen_ai_server_time_to_first_token_seconds: () => gateway.stream(customer, hello()),
  tollgate_variance_usd_total: () => {
    const usage = { prompt_tokens: 5_000, completion_tokens: 5_000 };
    gateway.simulator.behave({ behaviour: { usage }, calls: 1 });
    return gateway.chat(customer, hello());
  },
  tollgate_refusals_total: () => gateway.chat(customer, hello("nobody-has-this")),
  tollgate_commit_duration_seconds: () => gateway.chat(customer, hello()),
  tollgate_commit_operations: () => gateway.chat(customer, hello()),
  tollgate_commit_wait_seconds: () => gateway.chat(customer, hello()),
  tollgate_commit_queue: () => pulseOf({ waiting: 7 }),
  tollgate_sweep_timestamp_seconds: () => pulseOf({ sweptAtMs: Date.now() + 3_600_000 }),
  tollgate_store_ready: () => {
    spyOn(gateway.ledger, "ready").mockReturnValue(false); // by a store that is really away: test/replicas
    return Promise.resolve();
  },
  ...(embedded && {
    tollgate_backup_timestamp_seconds: () => {
      noteBackup(gateway.dataDir, { atMs: Date.now(), bytes: 1 });
      return Promise.resolve();
    },
  }),
  tollgate_route_state: () =>
    gateway.admin("POST", "/routes/disable", { route: RESEARCH_ROUTE, reason: "a test" }),
  tollgate_circuit_state: async () => {
    gateway.simulator.behave({ behaviour: { status: 500 }, calls: 5 });
    for (let n = 0; n < 5; n += 1) await gateway.chat(customer, hello("uncounted-1"));
  },
  tollgate_provider_account_refused: async () => {
    gateway.simulator.behave({ behaviour: { status: 401 }, calls: 1 });
    await gateway.chat(customer, hello("base-preview-v1"));
  },
  tollgate_release_expiry_timestamp_seconds: () =>
    gateway.publish({ ...UNCOUNTED, model: "one-more" }, { expiresInMs: 86_400_000 }),
  tollgate_stopped_organizations: async () => {
    await gateway.tamper(DEBT_MORE, (await gateway.customer()).organizationId);
    await gateway.admin("GET", "/ledger/audit"); // it does not wait for the minute
  },
  tollgate_ledger_drift_usd: async () => {
    // Not the calling customer: it would be refused within a minute.
    await gateway.tamper(DEBT_MORE, (await gateway.customer()).organizationId);
    await gateway.restart();
    await waitFor(async () => (await sumNow("tollgate_ledger_drift_usd")) !== 0, "the books to be looked at");
  },
  tollgate_ledger_drift_checked_timestamp_seconds: async () => {
    await Bun.sleep(5);
    await gateway.restart();
    await waitFor(
      async () => (await sumNow("tollgate_ledger_drift_checked_timestamp_seconds")) > 0,
      "the books to be looked at",
    );
  },
  tollgate_open_streams: () => Promise.resolve(), // read while a stream is open, below
};

async function whileStreaming<T>(look: () => Promise<T>): Promise<T> {
  gateway.simulator.behave({ behaviour: { tokens_per_second: 20, completion_tokens: 500 }, calls: 1 });
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
  await waitFor(async () => (await sumNow("tollgate_open_streams")) === 0, "its end");
  await waitFor(async () => (await gateway.chat(customer, hello())).status === 200, "room for the next call");
  return seen;
}

test("every figure of ours has a scenario that changes it", async () => {
  const types = await announced();
  const ours = [...types.keys()].filter((name) => isOurs(name) && !STANDS_STILL.has(name));
  expect(Object.keys(SCENARIOS).toSorted()).toEqual(ours.toSorted());
  for (const [name, happens] of Object.entries(SCENARIOS)) {
    const before = samplesOf(await samples(), name);
    const during =
      name === "tollgate_open_streams" ? await whileStreaming(samples) : (await happens(), await samples());
    mock.restore();
    const moved = samplesOf(during, name);
    expect({ name, moved }).not.toEqual({ name, moved: before });
    // A restart begins at zero; otherwise counters only grow.
    if (types.get(name) !== "gauge")
      expect([name, sumOf(moved, name) > sumOf(before, name)]).toEqual([name, true]);
  }
});

test("attempts are labelled by provider and outcome, and by nothing unbounded", async () => {
  await gateway.chat(customer, hello());
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

test("a reached limit is labelled by its setting's name", async () => {
  await whileStreaming(() => gateway.chat(customer, hello()));
  const labels = (await samples())
    .filter(({ name }) => name === "tollgate_limit_refusals_total")
    .map((one) => one.labels);
  expect(labels).toEqual(['{limit="max_concurrent"}']);
});

/** Zero while nothing is wrong or nobody writes, but read from a real source. */
const MAY_BE_ZERO = /^nodejs_eventloop_lag_seconds$/;

test("no figure of the runtime stays at zero for ever", async () => {
  await samples(); // the lag is measured from one scrape to the next
  const busyUntilMs = performance.now() + 50;
  while (performance.now() < busyUntilMs);
  const others = [...(await announced()).keys()].filter((name) => !isOurs(name) && !MAY_BE_ZERO.test(name));
  await reads(async () => {
    const all = await samples();
    return others.filter((name) => sumOf(all, name) === 0);
  }, []);
});
