import { expect, test } from "bun:test";
import { NO_CLASSES } from "../../domain/token-classes.ts";
import { Failure } from "../failure.ts";
import {
  chatRequest,
  collect,
  delta,
  DONE,
  event,
  failureOf,
  httpReply,
  providerAt,
  providerCall,
  startUpstream,
  STREAM_HEAD,
  streamCall,
} from "./openai.fixtures.ts";
import { FAR } from "../http/http.fixtures.ts";
import type { Part } from "../provider.ts";

const CHUNKED_HEAD =
  "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
const piece = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
const LAST_PIECE = "0\r\n\r\n";
const text = (parts: Part[]): string => parts.map((part) => (part.type === "text" ? part.text : "")).join("");

test("a call carries its ids, the provider's key in a header, and nothing of ours in the address", async () => {
  await using upstream = await startUpstream(({ socket }) =>
    socket.write(httpReply(200, JSON.stringify({ choices: [{ message: { content: "ok" } }] }))),
  );
  await providerAt(`${upstream.url}/`).complete({
    ...providerCall(),
    attempt: 2,
  });
  const [got] = upstream.got;
  expect(got?.head).toStartWith("POST /v1/chat/completions HTTP/1.1\r\n");
  for (const line of [
    /^authorization: Bearer provider-key$/im,
    /^x-request-id: req_1$/im,
    /^x-tollgate-attempt: 2$/im,
    /^content-type: application\/json$/im,
    /^accept-encoding: identity$/im,
  ])
    expect(got?.head).toMatch(line);
  expect(JSON.parse(got?.body ?? "")).toMatchObject({ max_completion_tokens: 64 });
});

test("a whole answer keeps text, reasoning, refusal, calls, annotations, log probabilities and id", async () => {
  const logprobs = { content: [{ token: "a", logprob: -0.5 }] };
  const citation = {
    type: "url_citation",
    url_citation: { start_index: 0, end_index: 1, url: "https://example.com", title: "a" },
  } as const;
  const body = {
    id: "up-7",
    choices: [
      { message: { content: null, refusal: "no" }, finish_reason: "stop" },
      {
        index: 1,
        message: {
          content: "a",
          reasoning: "because",
          annotations: [citation],
          tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }],
        },
        logprobs,
        finish_reason: "tool_calls",
      },
    ],
    usage: { prompt_tokens: 3, completion_tokens: 4 },
  };
  await using upstream = await startUpstream(({ socket }) =>
    socket.write(httpReply(200, JSON.stringify(body))),
  );
  const answer = await providerAt(upstream.url).complete(
    providerCall({ request: chatRequest({ n: 2, applied: { logprobs: true } }) }),
  );
  const none = {
    content: null,
    refusal: null,
    reasoning: null,
    toolCalls: [],
    annotations: null,
    logprobs: null,
  };
  expect(answer).toEqual({
    upstreamId: "up-7",
    usage: { promptTokens: 3, completionTokens: 4, ...NO_CLASSES },
    choices: [
      { ...none, index: 0, refusal: "no", finishReason: "stop" },
      {
        ...none,
        index: 1,
        content: "a",
        reasoning: "because",
        annotations: [citation],
        toolCalls: [{ id: "c", name: "f", arguments: "{}" }],
        logprobs,
        finishReason: "tool_calls",
      },
    ],
  });
});

test("an answer that lacks a choice is none, log probabilities that nobody asked for are dropped", async () => {
  const logprobs = { content: [{ token: "a" }] };
  const body = JSON.stringify({ choices: [{ message: { content: "a" }, logprobs, finish_reason: "stop" }] });
  await using upstream = await startUpstream(({ socket }) => socket.write(httpReply(200, body)));
  const provider = providerAt(upstream.url);
  expect((await provider.complete(providerCall())).choices[0]?.logprobs).toBeNull();
  const failure = await failureOf(provider.complete(providerCall({ request: chatRequest({ n: 2 }) })));
  expect(failure).toMatchObject({ reason: "no_answer", executed: "unknown" });
});

test("a stream gives its parts, its finish and its usage last, and the upstream's id", async () => {
  const usage = { prompt_tokens: 1, completion_tokens: 2 };
  const body = [delta({ role: "assistant", content: "" }), delta({ content: "a" }), delta({}, "stop")];
  const all = body.map(event).join("") + event({ choices: [], usage }) + DONE;
  await using upstream = await startUpstream(({ socket }) => socket.end(STREAM_HEAD + all));
  const stream = await providerAt(upstream.url).stream(streamCall());
  const parts: Part[] = [];
  for await (const group of stream.parts) parts.push(...group);
  expect(stream.upstreamId()).toBe("up-1");
  expect(parts).toEqual([
    { type: "text", choice: 0, text: "a" },
    {
      type: "usage",
      usage: { promptTokens: 1, completionTokens: 2, ...NO_CLASSES },
    },
    { type: "finish", choice: 0, reason: "stop" },
  ]);
});

test("what follows [DONE] is ignored, and the connection serves the next call", async () => {
  const body = event(delta({ content: "a" }, "stop")) + DONE + event({ error: "late" });
  const reply = CHUNKED_HEAD + piece(body) + LAST_PIECE;
  await using upstream = await startUpstream(({ socket }) => socket.write(reply));
  const provider = providerAt(upstream.url);
  for (let n = 0; n < 3; n++) {
    const { parts, failure } = await collect(provider, streamCall());
    expect(failure).toBeNull();
    expect(text(parts)).toBe("a");
  }
  expect(new Set(upstream.got.map(({ socket }) => socket)).size).toBe(1);
});

test("data without end after [DONE] delays nothing and ends with the connection", async () => {
  const flood = piece(": x".repeat(20_000));
  await using upstream = await startUpstream(({ socket }) => {
    socket.write(CHUNKED_HEAD + piece(event(delta({ content: "a" }, "stop")) + DONE));
    const more = (): void => {
      while (!socket.destroyed && socket.write(flood));
    };
    socket.on("drain", more);
    more();
  });
  const { failure } = await collect(providerAt(upstream.url), streamCall());
  expect(failure).toBeNull();
  await upstream.got[0]?.closed;
});

test("a missing [DONE], or a cut after the last finish, is a good end", async () => {
  const body = event(delta({ content: "a" })) + event(delta({}, "length"));
  for (const reply of [STREAM_HEAD + body, CHUNKED_HEAD + piece(body)]) {
    await using upstream = await startUpstream(({ socket }) => socket.write(reply));
    const end = (): void => void upstream.got[0]?.socket.destroy();
    const { parts, failure } = await collect(providerAt(upstream.url), streamCall(), end);
    expect(failure).toBeNull();
    expect(parts.at(-1)).toEqual({ type: "finish", choice: 0, reason: "length" });
  }
});

test("a stream without a finish is broken, however it ends; one choice of two is no answer", async () => {
  const begun = event(delta({ content: "a" }));
  const half = begun + event(delta({}, "stop")) + DONE;
  const rows: [string, number][] = [
    [STREAM_HEAD + begun, 1],
    [STREAM_HEAD + begun + DONE, 1],
    [CHUNKED_HEAD + piece(begun), 1],
    [CHUNKED_HEAD + piece(begun) + LAST_PIECE, 1],
    [STREAM_HEAD + half, 2],
  ];
  for (const [reply, n] of rows) {
    await using upstream = await startUpstream(({ socket }) => socket.write(reply));
    const call = streamCall({ request: chatRequest({ stream: true, n }) });
    const end = (): void => void upstream.got[0]?.socket.destroy();
    const { parts, failure } = await collect(providerAt(upstream.url), call, end);
    expect(text(parts)).toBe("a");
    const reason = n === 2 ? "no_answer" : "broken";
    expect(failure).toMatchObject({ reason, executed: "unknown", upstream: { id: "up-1" } });
  }
});

test("an error event after the first part proves nothing, and the parts before it are delivered", async () => {
  for (const error of [{ code: 429 }, { type: "overloaded_error" }, "text"]) {
    const body = event(delta({ content: "a" })) + event({ error });
    await using upstream = await startUpstream(({ socket }) => socket.end(STREAM_HEAD + body));
    const { parts, failure } = await collect(providerAt(upstream.url), streamCall());
    expect(text(parts)).toBe("a");
    expect(failure).toMatchObject({ reason: "server", executed: "unknown" });
  }
});

test("events that are not JSON, no object, or without end are broken", async () => {
  const endless = `data: ${"x".repeat(9 * 1024 * 1024)}`;
  for (const body of ["data: {\n\n", "data: 7\n\n", "data: <html>\n\n", endless]) {
    await using upstream = await startUpstream(({ socket }) => socket.end(STREAM_HEAD + body));
    const { failure } = await collect(providerAt(upstream.url), streamCall());
    expect(failure).toMatchObject({ reason: "broken", executed: "unknown" });
  }
});

test("keep-alives and empty data are swallowed and do not extend the limits", async () => {
  await using upstream = await startUpstream(({ socket }) => {
    socket.write(STREAM_HEAD);
    const timer = setInterval(() => socket.write(": ping\n\ndata:\n\n" + event(delta({}))), 5);
    socket.once("close", () => clearInterval(timer));
  });
  const { parts, failure } = await collect(
    providerAt(upstream.url, { timeouts: { ...FAR, firstTokenMs: 60 } }),
    streamCall(),
  );
  expect(parts).toEqual([]);
  expect(failure).toMatchObject({ reason: "timeout", executed: "unknown" });
  await upstream.got[0]?.closed;
});

test("silence in mid-stream is a timeout, a total that is over while it speaks a deadline", async () => {
  await using silent = await startUpstream(({ socket }) =>
    socket.write(STREAM_HEAD + event(delta({ content: "a" }))),
  );
  const idle = await collect(providerAt(silent.url, { timeouts: { ...FAR, idleMs: 500 } }), streamCall());
  expect(text(idle.parts)).toBe("a");
  expect(idle.failure).toMatchObject({ reason: "timeout", executed: "unknown" });
  await using slow = await startUpstream(({ socket }) => {
    socket.write(STREAM_HEAD);
    const timer = setInterval(() => socket.write(event(delta({ content: "a" }))), 5);
    socket.once("close", () => clearInterval(timer));
  });
  const total = await collect(providerAt(slow.url, { timeouts: { ...FAR, totalMs: 1_000 } }), streamCall());
  expect(total.failure).toMatchObject({ reason: "deadline", executed: "unknown" });
  expect(text(total.parts)).toStartWith("a");
});

test("a slow consumer is not the upstream's silence", async () => {
  const body = event(delta({ content: "a" }));
  await using upstream = await startUpstream(({ socket }) => socket.write(STREAM_HEAD + body));
  const timeouts = { ...FAR, idleMs: 1_000 };
  const { parts } = await providerAt(upstream.url, { timeouts }).stream(streamCall());
  const iterator = parts[Symbol.asyncIterator]();
  await iterator.next();
  await new Promise((resolve) => setTimeout(resolve, 3_000)); // three times the limit, spent by the consumer
  upstream.got[0]?.socket.end(event(delta({ content: "b" }, "stop")) + DONE);
  const { value } = await iterator.next();
  expect(text(value as Part[])).toBe("b");
});

test("an abort closes the upstream's connection, in silence and in mid-stream", async () => {
  for (const first of ["", event(delta({ content: "a" }))]) {
    await using upstream = await startUpstream(({ socket }) => socket.write(STREAM_HEAD + first));
    const abort = new AbortController();
    const { parts } = await providerAt(upstream.url).stream(streamCall({ signal: abort.signal }));
    const iterator = parts[Symbol.asyncIterator]();
    if (first !== "") await iterator.next();
    const next = failureOf(Promise.resolve(iterator.next()));
    abort.abort(new Failure("aborted", "unknown", "the client disconnected"));
    expect(await next).toMatchObject({
      reason: "aborted",
      executed: "unknown",
      message: "the client disconnected",
    });
    await upstream.got[0]?.closed;
  }
});

test("a consumer that stops reading closes the upstream's connection", async () => {
  await using upstream = await startUpstream(({ socket }) =>
    socket.write(STREAM_HEAD + event(delta({ content: "a" }))),
  );
  const { parts } = await providerAt(upstream.url).stream(streamCall());
  for await (const group of parts) {
    expect(text(group)).toBe("a");
    break;
  }
  await upstream.got[0]?.closed;
});

test("a host that does not answer is asked once by calls that arrive together, and not again while it is heard", async () => {
  let connections = 0;
  const server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open: () => void (connections += 1),
      data: (socket) => void socket.end(httpReply(429, "", { connection: "close", "content-length": "0" })),
    },
  });
  const provider = providerAt(`http://127.0.0.1:${server.port}/v1`);
  const call = (): Promise<Failure> => failureOf(provider.complete(providerCall()));
  await Promise.all([call(), call(), call()]);
  expect(connections).toBe(4);
  await call();
  expect(connections).toBe(5);
  server.stop(true);
});

test("a probe is content with any sign of life, and fails on our account, 5xx and silence", async () => {
  const { signal } = new AbortController();
  for (const [status, alive] of [
    [200, true],
    [404, true],
    [429, true],
    [401, false],
    [403, false],
    [503, false],
    [500, false],
  ] as const) {
    await using upstream = await startUpstream(({ socket }) => socket.write(httpReply(status, "{}")));
    const probed = providerAt(upstream.url).probe(signal);
    if (alive) await probed;
    else expect(await failureOf(probed)).toBeInstanceOf(Failure);
    expect(upstream.got[0]?.head).toStartWith("GET /v1/models HTTP/1.1");
  }
});
