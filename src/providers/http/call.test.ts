import { afterEach, beforeEach, expect, test } from "bun:test";
import type { Failure, FailureCause } from "../failure.ts";
import {
  chatRequest,
  collect,
  event,
  failureOf,
  httpReply,
  providerAt,
  providerCall,
  startUpstream,
  streamCall,
} from "../openai/openai.fixtures.ts";

interface Row {
  what: string;
  reply: string;
  reason: FailureCause;
  executed: Failure["executed"];
}

const error = (fields: object): string =>
  JSON.stringify({ error: { message: "m", type: null, code: null, ...fields } });
/** Its message would say more if it were read to the end. */
const LONG = error({ message: "x".repeat(100_000), code: "insufficient_quota" });
const DENIED = `HTTP/1.1 429 X\r\ncontent-length: 7\r\ntransfer-encoding: chunked\r\n\r\n${LONG.length.toString(16)}\r\n${LONG}\r\n0\r\n\r\n`;
const row = (what: string, reply: string, outcome: [FailureCause, Failure["executed"]]): Row => ({
  what,
  reply,
  reason: outcome[0],
  executed: outcome[1],
});

const BIG = httpReply(429, error({ message: "x".repeat(200_000) }));

/** wire.md §8.3, line by line. */
const ROWS: Row[] = [
  ...[
    error({ code: "context_length_exceeded" }),
    error({ message: "This model's maximum context length is 8192 tokens." }),
    error({ message: "prompt is too long: 210000 tokens > 200000 maximum" }),
    error({ message: "input length and `max_tokens` exceed context limit" }),
    error({ message: "Please reduce the length of the messages." }),
  ].map((body, n) => row(`400 about context, wording ${n}`, httpReply(400, body), ["context_length", "no"])),
  row("400 on policy", httpReply(400, error({ code: "content_filter" })), ["content_filter", "no"]),
  row(
    "400 on policy, Azure's inner code",
    httpReply(400, error({ innererror: { code: "ResponsibleAIPolicyViolation" } })),
    ["content_filter", "no"],
  ),
  ...[400, 404, 405, 413, 422].map((status) =>
    row(`any other ${status}`, httpReply(status, error({ code: "unsupported_parameter" })), [
      "rejected",
      "no",
    ]),
  ),
  row("402: our account has no credit", httpReply(402, error({})), ["quota", "no"]),
  row("401: our account", httpReply(401, error({})), ["account", "no"]),
  row("403 that speaks of our key", httpReply(403, error({ message: "Your API key is blocked" })), [
    "account",
    "no",
  ]),
  row("403 that does not say whose fault it is", httpReply(403, error({})), ["rejected", "no"]),
  row("403 without any body", httpReply(403, ""), ["rejected", "no"]),
  row("429", httpReply(429, error({})), ["rate_limited", "no"]),
  row("429 without any body", httpReply(429, ""), ["rate_limited", "no"]),
  row("429 with a body larger than any refusal", BIG, ["rate_limited", "no"]),
  row("429 with such a body in chunks, and a length that denies it", DENIED, ["rate_limited", "no"]),
  ...[503, 529].map((status) => row(`${status}`, httpReply(status, "<html>"), ["unavailable", "no"])),
  ...[408, 424, 500, 502, 504, 520].map((status) =>
    row(`${status}, whatever its words`, httpReply(status, error({ type: "overloaded_error" })), [
      "server",
      "unknown",
    ]),
  ),
  ...[301, 302, 307, 308, 304].map((status) =>
    row(`${status}`, httpReply(status, "", { location: "http://127.0.0.1:9/", "content-length": "0" }), [
      "broken",
      "unknown",
    ]),
  ),
  row("204", "HTTP/1.1 204 X\r\n\r\n", ["broken", "unknown"]),
  row("200 with an error body", httpReply(200, error({ code: 429 })), ["broken", "unknown"]),
  row("200 with HTML", httpReply(200, "<html>", { "content-type": "text/html" }), ["broken", "unknown"]),
  row("200 with bad JSON", httpReply(200, `{"choices":[`), ["broken", "unknown"]),
  row("200 with something that is no object", httpReply(200, "[]"), ["broken", "unknown"]),
];

for (const { what, reply, reason, executed } of ROWS) {
  test(`${what}: ${reason}, executed ${executed}, one call`, async () => {
    for (const stream of [false, true]) {
      await using upstream = await startUpstream(({ socket }) => socket.write(reply));
      const provider = providerAt(upstream.url);
      const call = providerCall({ request: chatRequest({ stream }) });
      const failure = stream
        ? (await collect(provider, call)).failure
        : await failureOf(provider.complete(call));
      expect(failure).toMatchObject({ reason, executed });
      expect(upstream.got).toHaveLength(1);
    }
  });
}

test("a refusal whose body is cut is no complete reply, so it proves nothing", async () => {
  const cut = "HTTP/1.1 429 X\r\ncontent-length: 100\r\n\r\nhalf";
  await using upstream = await startUpstream(({ socket }) => socket.end(cut));
  expect(await failureOf(providerAt(upstream.url).complete(providerCall()))).toMatchObject({
    reason: "broken",
    executed: "unknown",
    upstream: { status: 429 },
  });
});

test("a refusal whose body never ends is cut within seconds, and proves nothing", async () => {
  await using silent = await startUpstream(
    ({ socket }) => void socket.write("HTTP/1.1 429 X\r\ncontent-length: 100\r\n\r\nhalf"),
  );
  await using drips = await startUpstream(({ socket }) => {
    socket.write("HTTP/1.1 429 X\r\ntransfer-encoding: chunked\r\n\r\n");
    const timer = setInterval(() => socket.write("1\r\nx\r\n"), 100);
    socket.once("close", () => clearInterval(timer));
  });
  const timeouts = { connectMs: 2_000, firstTokenMs: 60_000, idleMs: 60_000, totalMs: 60_000 };
  const began = performance.now();
  const cuts = [silent, drips].map(async ({ url, got }) => {
    const failure = await failureOf(providerAt(url, { timeouts }).complete(providerCall()));
    expect(failure).toMatchObject({ reason: "broken", executed: "unknown", upstream: { status: 429 } });
    await got[0]?.closed;
  });
  await Promise.all(cuts);
  expect(performance.now() - began).toBeLessThan(40_000); // less than its other limits
}, 120_000);

const RETRY_AFTER: [Record<string, string>, string, number | undefined][] = [
  [{ "retry-after": "7" }, "{}", 7000],
  [{ "retry-after": "1.2" }, "{}", 2000],
  [{ "retry-after-ms": "250" }, "{}", 250],
  [{ "retry-after": "999999" }, "{}", 3_600_000],
  [{ "retry-after": "Sat, 01 Jan 2000 00:00:00 GMT" }, "{}", 0],
  [{ "retry-after": "soon" }, "{}", undefined],
  [{}, `{"error":{"details":[{"retryDelay":"34.4s"}]}}`, 35_000],
  [{}, "{}", undefined],
];

test("the time to wait is read from header or body, bounded", async () => {
  for (const [headers, body, retryAfterMs] of RETRY_AFTER) {
    const reply = httpReply(429, body, { "content-length": String(body.length), ...headers });
    await using upstream = await startUpstream(({ socket }) => socket.write(reply));
    const failure = await failureOf(providerAt(upstream.url).complete(providerCall()));
    expect(failure.upstream.retryAfterMs).toBe(retryAfterMs);
  }
});

test("a provider's text is not in the failure: it may quote our key or a prompt", async () => {
  const body = error({ message: "bad key provider-key for prompt 'Hi'", code: "provider key" });
  await using upstream = await startUpstream(({ socket }) => socket.write(httpReply(401, body)));
  const failure = await failureOf(providerAt(upstream.url).complete(providerCall()));
  expect(failure.message).toBe("the upstream answered 401 (provider)");
});

test("a refused connection, an unknown name and a failed handshake prove that nothing ran", async () => {
  const gone = await startUpstream(() => {});
  await gone[Symbol.asyncDispose]();
  using plain = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
  for (const url of [gone.url, "http://nobody.invalid/v1", `https://127.0.0.1:${plain.port}/v1`]) {
    const failure = await failureOf(providerAt(url).complete(providerCall()));
    expect(failure).toMatchObject({ reason: "connect", executed: "no" });
  }
});

test("a connection that is lost after the request was written proves nothing", async () => {
  await using upstream = await startUpstream(({ socket }) => socket.destroy());
  for (const call of [providerCall(), streamCall()]) {
    const provider = providerAt(upstream.url);
    const promise = call.request.stream ? provider.stream(call) : provider.complete(call);
    expect(await failureOf(promise)).toMatchObject({ reason: "broken", executed: "unknown" });
  }
  expect(upstream.got).toHaveLength(2);
});

test("a pooled connection that dies under a request is not used for a second one", async () => {
  const answer = httpReply(
    200,
    JSON.stringify({ choices: [{ message: { content: "a" }, finish_reason: "stop" }] }),
  );
  await using upstream = await startUpstream(({ socket }) => {
    if (upstream.got.length === 1) socket.write(answer);
    else socket.destroy();
  });
  const provider = providerAt(upstream.url);
  await provider.complete(providerCall());
  const failure = await failureOf(provider.complete(providerCall()));
  expect(failure).toMatchObject({ reason: "broken", executed: "unknown" });
  expect(upstream.got).toHaveLength(2);
});

test("no headers until the limit is a timeout without proof, and the connection is closed", async () => {
  await using upstream = await startUpstream(() => {});
  const timeouts = { connectMs: 1000, firstTokenMs: 30, idleMs: 1000, totalMs: 1000 };
  const failure = await failureOf(providerAt(upstream.url, { timeouts }).stream(streamCall()));
  expect(failure).toMatchObject({ reason: "timeout", executed: "unknown" });
  await upstream.got[0]?.closed;
  const whole = { ...timeouts, totalMs: 30, firstTokenMs: 1000 };
  const late = await failureOf(providerAt(upstream.url, { timeouts: whole }).complete(providerCall()));
  expect(late).toMatchObject({ reason: "timeout", executed: "unknown" });
});

test("who gives up before anything is sent has proof; afterwards not", async () => {
  await using upstream = await startUpstream(() => abort.abort());
  const abort = new AbortController();
  const provider = providerAt(upstream.url);
  const before = await failureOf(provider.complete(providerCall({ signal: AbortSignal.abort() })));
  expect(before).toMatchObject({ reason: "aborted", executed: "no" });
  const after = await failureOf(provider.complete(providerCall({ signal: abort.signal })));
  expect(after).toMatchObject({ reason: "aborted", executed: "unknown" });
  await upstream.got[0]?.closed;
});

test("who gives up while the calls of its turn still begin has proof", async () => {
  await using upstream = await startUpstream(({ socket }) => socket.write(httpReply(503, "")));
  const provider = providerAt(upstream.url);
  await failureOf(provider.complete(providerCall({}))); // the host is known from here on, and not probed again
  const abort = new AbortController();
  const cut = failureOf(provider.complete(providerCall({ signal: abort.signal })));
  abort.abort();
  expect(await cut).toMatchObject({ reason: "aborted", executed: "no" });
  expect(upstream.got).toHaveLength(1);
});

test("a compressed answer that grows beyond the limit is cut, not inflated", async () => {
  const bomb = Bun.gzipSync(Buffer.alloc(80 * 1024 * 1024, " "));
  const head = `HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`;
  await using upstream = await startUpstream(({ socket }) => {
    socket.write(head);
    socket.write(bomb);
  });
  const failure = await failureOf(providerAt(upstream.url).complete(providerCall()));
  expect(failure).toMatchObject({ reason: "broken", executed: "unknown" });
});

const ERROR_EVENTS: [object, FailureCause, Failure["executed"]][] = [
  [{ code: 429, message: "slow down" }, "rate_limited", "no"],
  [{ code: "503" }, "unavailable", "no"],
  [{ type: "rate_limit_error" }, "rate_limited", "no"],
  [{ code: "insufficient_quota" }, "quota", "no"],
  [{ code: 402 }, "quota", "no"],
  [{ type: "overloaded_error" }, "unavailable", "no"],
  [{ type: "authentication_error" }, "account", "no"],
  [{ type: "invalid_request_error" }, "rejected", "no"],
  [{ type: "invalid_request_error", code: "context_length_exceeded" }, "context_length", "no"],
  [{ code: "content_filter" }, "content_filter", "no"],
  [{ code: 502 }, "server", "unknown"],
  [{ type: "server_error" }, "server", "unknown"],
  [{ message: "anything" }, "server", "unknown"],
];

test("an error event before the first part counts by its type", async () => {
  for (const [fields, reason, executed] of ERROR_EVENTS) {
    const role = event({ choices: [{ index: 0, delta: { role: "assistant", content: "" } }], usage: null });
    const body = role + event({ error: fields });
    await using upstream = await startUpstream(({ socket }) =>
      socket.write(httpReply(200, body, { "content-type": "text/event-stream" })),
    );
    const { parts, failure } = await collect(providerAt(upstream.url), streamCall());
    expect(parts).toEqual([]);
    expect(failure).toMatchObject({ reason, executed });
  }
});

const PROXIES = ["HTTP_PROXY", "http_proxy"] as const;
const before = PROXIES.map((name) => process.env[name]);
beforeEach(() => {
  for (const name of PROXIES) process.env[name] = "http://127.0.0.1:9/";
});
afterEach(() => {
  for (const [n, name] of PROXIES.entries()) {
    if (before[n] === undefined) delete process.env[name];
    else process.env[name] = before[n];
  }
});

test("a proxy in the environment has no effect", async () => {
  await using upstream = await startUpstream(({ socket }) => socket.write(httpReply(429, "")));
  expect(await failureOf(providerAt(upstream.url).complete(providerCall()))).toMatchObject({
    reason: "rate_limited",
  });
});

test("a proof that the upstream did not take is told so, at 401, or where a 403 says that it has ended", async () => {
  let refused = 0;
  const authorize = Object.assign(() => ({ authorization: "Bearer t" }), { refused: () => (refused += 1) });
  let status = 401;
  let message = "";
  await using upstream = await startUpstream(({ socket }) =>
    socket.write(httpReply(status, JSON.stringify({ message }))),
  );
  const provider = providerAt(upstream.url, { authorize });
  await failureOf(provider.complete(providerCall()));
  expect(refused).toBe(1);
  for (status of [400, 403, 429, 500]) await failureOf(provider.complete(providerCall()));
  expect(refused).toBe(1);
  message = "The security token included in the request is expired";
  for (status of [400, 403, 429, 500]) await failureOf(provider.complete(providerCall()));
  expect(refused).toBe(2);
});
