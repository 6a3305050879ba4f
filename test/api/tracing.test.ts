// Traces (operate.md §3): request → admit → each attempt → settle, sent to a collector once a request is resolved;
// the caller's trace is continued, and passed to providers whose configuration allows it. They contain no content and
// no secret, and are not made if nobody receives them.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { formatUsd } from "../../src/domain/money.ts";
import { ATTRIBUTE, SPAN } from "../../src/domain/telemetry-names.ts";
import { parseTraceparent } from "../../src/domain/traceparent.ts";
import { type Simulator, startSimulator } from "../../src/providers/simulator/server.ts";
import { type CollectedSpan, Collector } from "../support/collector.ts";
import { type Customer, hello, startGateway, type TestGateway } from "../support/gateway.ts";
import { MODELS, onProvider, PLAIN, VECTORS } from "../support/models.ts";
import { scrape } from "../support/scrape.ts";
import { spansExported } from "../support/exported-spans.ts";
import { PATIENCE_MS } from "../support/wait.ts";

const SECRET_WORD = "xylophone-secret-word";
const ANSWER_WORD = "quartz";
const TOKEN = "collector-token-31337";
const PARENT = "00f067aa0ba902b7";
const two = { ...PLAIN, model: "two-routes", priority: 1 };

let gateway: TestGateway;
let second: Simulator;
let between: ReturnType<typeof Bun.serve>;
let customer: Customer;
let collector: Collector;
/** What the second provider was sent. */
const told: (string | null)[] = [];

beforeAll(async () => {
  collector = new Collector();
  second = await startSimulator({ port: 0 });
  between = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      told.push(request.headers.get("traceparent"));
      const { pathname } = new URL(request.url);
      const body = await request.text();
      return fetch(`${second.url}${pathname}`, { method: "POST", headers: request.headers, body });
    },
  });
  gateway = await startGateway({
    providers: { second: `http://127.0.0.1:${between.port}/v1` },
    models: [...MODELS, VECTORS, two, onProvider(two, "second", { priority: 2 })],
    configure: (config) => {
      for (const provider of config.providers) provider.traceparent = provider.name === "second";
      config.tracing = collector.tracing({
        headers: { authorization: TOKEN },
        resource: { "service.name": "tollgate-test" },
        sampling: { sampler: "parentbased_always_on", ratio: 1 },
        intervalMs: 30,
      });
    },
  });
  customer = await gateway.customer({ usd: "100" });
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([second.stop(), between.stop(true), collector.stop()]);
});

const newTrace = (): string => Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString("hex");
const header = (traceId: string, flags = "01"): Record<string, string> => ({
  traceparent: `00-${traceId}-${PARENT}-${flags}`,
});
const named = (spans: readonly CollectedSpan[], name: string): CollectedSpan[] =>
  spans.filter((span) => span.name === name);
const exportsPass = (): Promise<void> => spansExported(gateway.url);

/** Words in the prompt and in the answer that must not be in any span. */
const telling = (model: string): object => ({
  ...hello(model),
  messages: [{ role: "user", content: `Say ${SECRET_WORD}` }],
  user: "user-7788",
  max_tokens: 64,
});

test("a stream that failed over is one tree: request, admission, both attempts, settlement, and the provider joins it", async () => {
  const traceId = newTrace();
  gateway.simulator.behave({ behaviour: { status: 503 }, calls: 1 });
  const { status, events } = await gateway.stream(customer, telling("two-routes"), header(traceId));
  expect([status, events.done]).toEqual([200, true]);
  const spans = await collector.trace(traceId, 5);
  expect(spans).toHaveLength(5);

  const [root] = named(spans, "POST /v1/chat/completions");
  expect([root?.parentSpanId, root?.kind, root?.status]).toEqual([PARENT, 2, undefined]);
  const children = spans.filter((span) => span !== root);
  expect(children.map(({ parentSpanId }) => parentSpanId)).toEqual(children.map(() => root?.spanId));
  expect(children.map(({ name }) => name)).toEqual([
    SPAN.admit,
    "chat two-routes",
    "chat two-routes",
    SPAN.settle,
  ]);
  expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(5);

  const [first, answered] = named(spans, "chat two-routes");
  expect([first?.kind, first?.status, first?.attributes[ATTRIBUTE.errorType]]).toEqual([
    3,
    { code: 2 },
    "unavailable",
  ]);
  expect(first?.attributes[ATTRIBUTE.configuredProvider]).toBe("simulator");
  expect(first?.attributes[ATTRIBUTE.inputTokens]).toBeUndefined();
  expect([answered?.status, answered?.attributes[ATTRIBUTE.configuredProvider]]).toEqual([
    undefined,
    "second",
  ]);
  expect(answered?.attributes).toMatchObject({
    [ATTRIBUTE.operation]: "chat",
    [ATTRIBUTE.provider]: "simulator",
    [ATTRIBUTE.requestModel]: "two-routes",
    [ATTRIBUTE.responseModel]: "sim-plain-1",
    [ATTRIBUTE.stream]: true,
    [ATTRIBUTE.maxTokens]: 64,
    [ATTRIBUTE.attempt]: 2,
  });
  expect(parseTraceparent(told.at(-1) ?? null)).toEqual({
    traceId,
    spanId: answered?.spanId ?? "",
    sampled: true,
  });

  const requestId = String(root?.attributes[ATTRIBUTE.requestId]);
  const record = await gateway.request(requestId);
  expect(answered?.attributes[ATTRIBUTE.inputTokens]).toBe(record.usage?.promptTokens);
  expect(answered?.attributes[ATTRIBUTE.outputTokens]).toBe(record.usage?.completionTokens);
  const [settle] = named(spans, SPAN.settle);
  expect(settle?.attributes[ATTRIBUTE.evidence]).toBe("provider_usage");
  expect(settle?.attributes[ATTRIBUTE.chargeUsd]).toBe(
    record.charge === null ? undefined : formatUsd(record.charge),
  );

  // In order, and each within the request.
  for (const { startTimeUnixNano: start, endTimeUnixNano: end } of children) {
    expect(BigInt(start)).toBeGreaterThanOrEqual(BigInt(root?.startTimeUnixNano ?? 0));
    expect(BigInt(end)).toBeLessThanOrEqual(BigInt(root?.endTimeUnixNano ?? 0));
  }
  expect(root?.endTimeUnixNano).toBe(settle?.endTimeUnixNano ?? "");
});

test.each([
  ["completions", { model: "plain-1", prompt: "Say hello" }, "text_completion plain-1", "text_completion"],
  ["embeddings", { model: "vectors-1", input: "Say hello" }, "embeddings vectors-1", "embeddings"],
  ["responses", { model: "plain-1", input: "Say hello" }, "chat plain-1", "chat"],
])(
  "requests to /v1/%s have their own name, in spans and in metrics",
  async (surface, body, name, operation) => {
    const traceId = newTrace();
    const { status } = await fetch(`${gateway.baseUrl}/${surface}`, {
      method: "POST",
      headers: {
        ...header(traceId),
        authorization: `Bearer ${customer.secret}`,
        "content-type": "application/json",
      },
      body: JSON.stringify(body),
    });
    expect(status).toBe(200);
    const spans = await collector.trace(traceId, 4);
    expect(named(spans, `POST /v1/${surface}`)[0]?.attributes[ATTRIBUTE.surface]).toBe(surface);
    const [attempt] = named(spans, name);
    expect(attempt?.attributes[ATTRIBUTE.operation]).toBe(operation);
    expect(attempt?.attributes[ATTRIBUTE.inputTokens]).toBeGreaterThan(0);
    const { samples } = await scrape(gateway.url);
    const counted = samples.filter(
      ({ name: metric, labels }) =>
        metric === "gen_ai_client_operation_duration_seconds_count" && labels["surface"] === surface,
    );
    expect(counted.map(({ labels, value }) => [labels["gen_ai_operation_name"], value])).toEqual([
      [operation, 1],
    ]);
  },
);

test("a stream that breaks after its first part is an error in its attempt and its request, and has its charge", async () => {
  const traceId = newTrace();
  gateway.simulator.behave({ behaviour: { error_after_events: 4, completion_tokens: 50 }, calls: 1 });
  await gateway.stream(customer, telling("plain-1"), header(traceId));
  const spans = await collector.trace(traceId, 4);
  const [root] = named(spans, "POST /v1/chat/completions");
  const [attempt] = named(spans, "chat plain-1");
  expect([root?.status?.code, attempt?.status?.code]).toEqual([2, 2]);
  expect(root?.attributes[ATTRIBUTE.errorType]).toBe(attempt?.attributes[ATTRIBUTE.errorType]);
  expect(named(spans, SPAN.settle)[0]?.attributes[ATTRIBUTE.evidence]).toBe("delivered_tokens");
});

test("a provider's refusal releases the hold, and the spans say so", async () => {
  const traceId = newTrace();
  gateway.simulator.behave({ behaviour: { status: 500 }, calls: 1 });
  await gateway.chat(customer, telling("plain-1"), header(traceId));
  const spans = await collector.trace(traceId, 4);
  expect(named(spans, SPAN.settle)[0]?.attributes).toEqual({ [ATTRIBUTE.outcome]: "released" });
  const [root] = named(spans, "POST /v1/chat/completions");
  expect(root?.attributes[ATTRIBUTE.errorType]).toBe("provider_error");
  expect(root?.status).toEqual({ code: 2 });
});

test("a request without a hold has only request and admission, as a refusal or a replay; an unknown caller leaves no span", async () => {
  const [refused, replayed, stranger] = [newTrace(), newTrace(), newTrace()];
  await gateway.chat({ ...customer, secret: "gw_nobody" }, hello(), header(stranger));
  await gateway.chat({ ...customer, secret: `${customer.secret.slice(0, -1)}!` }, hello(), header(stranger));
  await gateway.chat(customer, hello(`${SECRET_WORD}-as-a-model`), header(refused));
  const key = { "idempotency-key": "traced-twice" };
  await gateway.chat(customer, hello(), key);
  await gateway.chat(customer, hello(), { ...key, ...header(replayed) });

  const said = async (traceId: string): Promise<unknown[]> => {
    const [root, admit, ...more] = await collector.trace(traceId, 2);
    expect([admit?.name, admit?.parentSpanId, more]).toEqual([SPAN.admit, root?.spanId, []]);
    return [
      root?.attributes[ATTRIBUTE.status],
      root?.attributes[ATTRIBUTE.outcome],
      root?.attributes[ATTRIBUTE.errorType],
    ];
  };
  expect(await said(refused)).toEqual([404, "refused", "model_not_found"]);
  expect(await said(replayed)).toEqual([200, "replayed", undefined]);
  await exportsPass();
  expect(collector.spans.filter(({ traceId }) => traceId === stranger)).toEqual([]);
});

test("an unsampled caller is not traced, and the caller's trace is passed to the provider unchanged", async () => {
  const traceId = newTrace();
  gateway.simulator.behave({ behaviour: { status: 503 }, calls: 1 });
  await gateway.chat(customer, hello("two-routes"), header(traceId, "00"));
  expect(parseTraceparent(told.at(-1) ?? null)).toMatchObject({ traceId, sampled: false });
  await exportsPass();
  expect(collector.spans.filter((span) => span.traceId === traceId)).toEqual([]);
});

test("a request without a trace, or with an invalid one, starts its own", async () => {
  const before = new Set(collector.spans.map(({ traceId }) => traceId));
  await gateway.chat(customer, hello(), { traceparent: "00-what-is-this-01" });
  await gateway.chat(customer, hello());
  await exportsPass();
  const roots = collector.spans.filter(({ traceId, kind }) => kind === 2 && !before.has(traceId));
  expect(roots.map(({ parentSpanId }) => parentSpanId)).toEqual([undefined, undefined]);
});

test("a provider not configured for it gets no traceparent", async () => {
  const seen: (string | null)[] = [];
  const own = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => {
      seen.push(request.headers.get("traceparent"));
      return new Response("no", { status: 503 });
    },
  });
  const quiet = await startGateway({
    providers: { own: `http://127.0.0.1:${own.port}/v1` },
    models: [{ ...PLAIN, model: "own-1", provider: "own" }],
    configure: (config) => {
      config.tracing = collector.tracing({ resource: { "service.name": "quiet" } });
    },
  });
  await quiet.chat(await quiet.customer(), hello("own-1"), header(newTrace()));
  expect(seen).toEqual([null]);
  await quiet.stop();
  await own.stop(true);
});

test("nothing exported contains text of a prompt, an answer, a caller's name, or a secret; exports carry their headers", async () => {
  await exportsPass();
  const everything = collector.bodies.join("\n");
  expect(everything).toContain("two-routes"); // the check really saw the spans
  for (const word of [SECRET_WORD, customer.secret, customer.secret.slice(-12), "user-7788", TOKEN, "Say "])
    expect([word, everything.includes(word)]).toEqual([word, false]);
  const { json } = await gateway.chat<{ choices: { message: { content: string } }[] }>(customer, {
    ...hello(),
    messages: [{ role: "user", content: ANSWER_WORD }],
  });
  const answer = json.choices[0]?.message.content ?? "";
  expect(answer.length).toBeGreaterThan(10);
  await exportsPass();
  expect(collector.bodies.join("\n").includes(answer.slice(0, 10))).toBe(false);
  expect(collector.headers.at(-1)?.get("authorization")).toBe(TOKEN);
  expect(collector.resources.at(0)?.["service.name"]).toBe("tollgate-test");
});

test("a collector that hangs, then answers 500, costs counted spans and no request; then it recovers", async () => {
  const count = async (name: string, reason?: string): Promise<number> =>
    (await scrape(gateway.url)).samples
      .filter((one) => one.name === name && one.labels["reason"] === reason)
      .reduce((sum, { value }) => sum + value, 0);
  const told = async (): Promise<number> =>
    (await count("tollgate_spans_exported_total")) + (await count("tollgate_spans_dropped_total", "refused"));
  while ((await count("tollgate_spans_waiting")) > 0) await Bun.sleep(50);
  const before = await told();
  const held = Promise.withResolvers<Response>();
  collector.behave = () => held.promise;
  const began = performance.now();
  const replies = await Promise.all(Array.from({ length: 20 }, () => gateway.chat(customer, hello())));
  expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
  expect(performance.now() - began).toBeLessThan(PATIENCE_MS);
  collector.behave = () => new Response("no", { status: 500 });
  held.resolve(new Response("no", { status: 500 }));
  while ((await count("tollgate_spans_dropped_total", "refused")) === 0) await Bun.sleep(50);
  expect((await gateway.chat(customer, hello())).status).toBe(200);
  collector.behave = () => Response.json({});
  const exported = await count("tollgate_spans_exported_total");
  await Bun.sleep(1_100); // the exporter's pause
  await gateway.chat(customer, hello());
  while ((await count("tollgate_spans_exported_total")) === exported) await Bun.sleep(50);
  while ((await count("tollgate_spans_waiting")) > 0) await Bun.sleep(50);
  expect((await told()) - before).toBe(22 * 4); // request, admission, call and settlement of each: exactly once
  await gateway.assertSound();
});
