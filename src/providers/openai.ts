// The adapter for every upstream that speaks the chat-completions shape, at any base URL (wire.md §8). Passes fields
// through by allowlist; at most one HTTP request per call.
import { readParts } from "./event-stream.ts";
import { Failure } from "./failure.ts";
import { Knock } from "./knock.ts";
import { type BodyOptions, outgoingBody } from "./outgoing-body.ts";
import { ChunkReader, type ReaderOptions } from "./parts-of-chunk.ts";
import type { Answer, Provider, ProviderCall, ProviderStream } from "./provider.ts";
import { type Outgoing, readBounded, send } from "./upstream-call.ts";
import { type Timeouts, Watch } from "./watch.ts";
import { readAnswer } from "./whole-answer.ts";

export interface OpenAiOptions {
  name: string;
  /** Ends in the version segment. */
  baseUrl: string;
  /** Goes upstream in a header only; null = none. */
  apiKey: string | null;
  /** Further headers of every call, from the configuration. */
  headers?: Record<string, string>;
  timeouts: Timeouts;
  /** Path of a cheap GET below the base URL, such as `/models`. */
  probePath: string | null;
  /** What the upstream calls its output maximum; `max_completion_tokens` unless told otherwise. */
  ceilingField?: BodyOptions["ceilingField"];
}

const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

export function createOpenAiProvider(options: OpenAiOptions): Provider {
  const upstream: Upstream = {
    options,
    baseUrl: options.baseUrl.replace(/\/+$/, ""),
    knock: new Knock(options.baseUrl, options.timeouts.connectMs),
    headers: {
      ...options.headers,
      ...(options.apiKey !== null && { authorization: `Bearer ${options.apiKey}` }),
      "accept-encoding": "identity",
      "user-agent": "tollgate",
    },
  };
  return {
    name: options.name,
    complete: (call) => complete(upstream, call),
    stream: (call) => stream(upstream, call),
    probe: (signal) => probe(upstream, signal),
  };
}

interface Upstream {
  options: OpenAiOptions;
  baseUrl: string;
  knock: Knock;
  headers: Record<string, string>;
}

async function complete(upstream: Upstream, call: ProviderCall): Promise<Answer> {
  const { totalMs, idleMs } = upstream.options.timeouts;
  const watch = new Watch(call.signal, { firstTokenMs: totalMs, idleMs, totalMs });
  try {
    const reply = await send(outgoing(upstream, call), { knock: upstream.knock, watch });
    const text = await readBounded(reply, { bytesMax: ANSWER_BYTES_MAX, watch });
    return readAnswer(text, readerOptions(upstream, call));
  } finally {
    watch.end();
  }
}

async function stream(upstream: Upstream, call: ProviderCall): Promise<ProviderStream> {
  const watch = new Watch(call.signal, upstream.options.timeouts);
  try {
    const reply = await send(outgoing(upstream, call), { knock: upstream.knock, watch });
    const type = (reply.headers.get("content-type") ?? "").toLowerCase();
    if (/^(text\/html|application\/json)\b/.test(type)) {
      await reply.body?.cancel();
      throw new Failure("broken", "unknown", "the upstream answered a stream with something else");
    }
    const reader = new ChunkReader(readerOptions(upstream, call));
    return { upstreamId: () => reader.id, parts: readParts(reply, { reader, watch }) };
  } catch (error) {
    watch.end();
    throw error;
  }
}

/** Alive is who answers: an unknown path does, a refused account or a 5xx does not help us. */
async function probe(upstream: Upstream, signal: AbortSignal): Promise<void> {
  const { probePath, timeouts } = upstream.options;
  const { connectMs } = timeouts;
  const watch = new Watch(signal, { firstTokenMs: connectMs, idleMs: connectMs, totalMs: connectMs });
  const url = `${upstream.baseUrl}${probePath ?? "/models"}`;
  try {
    const { headers, knock } = upstream;
    const reply = await send({ url, method: "GET", headers }, { knock, watch });
    await reply.body?.cancel();
  } catch (error) {
    if (!(error instanceof Failure && (error.reason === "rejected" || error.reason === "rate_limited")))
      throw error;
  } finally {
    watch.end();
  }
}

function outgoing({ options, baseUrl, headers }: Upstream, call: ProviderCall): Outgoing {
  const { name: family, ceilingField = "max_completion_tokens" } = options;
  return {
    url: `${baseUrl}/chat/completions`,
    method: "POST",
    body: outgoingBody(call, { family, ceilingField }),
    headers: {
      ...headers,
      "content-type": "application/json",
      accept: call.request.stream ? "text/event-stream" : "application/json",
      "x-request-id": call.requestId,
      "x-tollgate-attempt": String(call.attempt),
    },
  };
}

const readerOptions = ({ options }: Upstream, { request }: ProviderCall): ReaderOptions => ({
  choices: request.n,
  logprobs: request.logprobs,
  family: options.name,
});
