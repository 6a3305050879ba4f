// The adapter for every upstream that speaks the chat-completions shape, at any base URL (wire.md §8). Passes fields
// through by allowlist; at most one HTTP request per call.
import { EventLines } from "./event-lines.ts";
import { Failure } from "./failure.ts";
import { outgoingBody } from "./outgoing-body.ts";
import { ChunkReader } from "./parts-of-chunk.ts";
import type { Answer, Part, Provider, ProviderCall, ProviderStream } from "./provider.ts";
import { lost, readBounded, send } from "./upstream-call.ts";
import { failureOfEvent } from "./upstream-error.ts";
import { isObject } from "./usage.ts";
import { type Timeouts, Watch } from "./watch.ts";
import { readAnswer } from "./whole-answer.ts";

export interface OpenAiOptions {
  name: string;
  /** Ends in the version segment, without a slash. */
  baseUrl: string;
  apiKey: string | null;
  timeouts: Timeouts;
  /** Path of a cheap GET, such as `/models`; null = no probe. */
  probePath: string | null;
}

const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

export function createOpenAiProvider(options: OpenAiOptions): Provider {
  return {
    name: options.name,
    complete: (call) => complete(options, call),
    stream: (call) => stream(options, call),
    probe: (signal) => probe(options, signal),
  };
}

async function complete(options: OpenAiOptions, call: ProviderCall): Promise<Answer> {
  const watch = new Watch(call.signal, { ...options.timeouts, firstTokenMs: options.timeouts.totalMs });
  try {
    const reply = await send(outgoing(options, call), watch);
    return readAnswer(readBody(await readBounded(reply, ANSWER_BYTES_MAX, watch)), call.request.n);
  } finally {
    watch.end();
  }
}

function readBody(text: string): Record<string, unknown> {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new Failure("broken", "unknown", "the upstream answered 200 with something that is not JSON");
  }
  if (!isObject(body)) throw new Failure("broken", "unknown", "the upstream answered 200 without an object");
  if (isObject(body["error"]))
    throw new Failure("broken", "unknown", "the upstream answered 200 with an error body");
  return body;
}

async function stream(options: OpenAiOptions, call: ProviderCall): Promise<ProviderStream> {
  const watch = new Watch(call.signal, options.timeouts);
  const reader = new ChunkReader(call.request.n);
  try {
    const reply = await send(outgoing(options, call), watch);
    const type = reply.headers.get("content-type") ?? "";
    if (!type.startsWith("text/event-stream")) {
      await reply.body?.cancel();
      throw new Failure(
        "broken",
        "unknown",
        `the upstream answered a stream with ${type.slice(0, 60) || "no type"}`,
      );
    }
    return { upstreamId: () => reader.id, parts: partsOf(reply, reader, watch) };
  } catch (error) {
    watch.end();
    throw error;
  }
}

/** Pull-based: one network read per step. */
async function* partsOf(
  reply: Response,
  reader: ChunkReader,
  watch: Watch,
): AsyncGenerator<Part[], void, void> {
  const source = reply.body?.getReader();
  if (source === undefined) throw new Failure("broken", "unknown", "the upstream's stream has no body");
  const decoder = new TextDecoder();
  const lines = new EventLines();
  let done = false;
  try {
    while (!done) {
      const read = await source.read();
      if (read.done) break;
      const events = readEvents(lines.push(decoder.decode(read.value, { stream: true })), reader);
      done = events.done;
      if (events.parts.length > 0) {
        watch.moved();
        yield events.parts;
      }
      if (events.failure !== null) throw events.failure;
    }
    if (!reader.complete)
      throw new Failure("broken", "unknown", "the upstream's stream ended without a finish");
  } catch (error) {
    throw error instanceof Failure ? error : (watch.reason ?? lost(error));
  } finally {
    watch.end();
    await source.cancel().catch(() => {}); // already closed: nothing left to cancel
  }
}

/** What one read brought; parts before a failure still count as delivered. */
function readEvents(
  events: readonly string[],
  reader: ChunkReader,
): { parts: Part[]; done: boolean; failure: Failure | null } {
  const parts: Part[] = [];
  try {
    for (const data of events) {
      if (data === "[DONE]") return { parts, done: true, failure: null };
      for (const part of reader.read(readChunk(data))) parts.push(part);
    }
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { parts, done: true, failure: error };
  }
  return { parts, done: false, failure: null };
}

function readChunk(data: string): Record<string, unknown> {
  let chunk: unknown;
  try {
    chunk = JSON.parse(data);
  } catch {
    throw new Failure("broken", "unknown", "the upstream sent an event that is not JSON");
  }
  if (!isObject(chunk))
    throw new Failure("broken", "unknown", "the upstream sent an event that is no object");
  if (chunk["error"] !== undefined && chunk["error"] !== null) throw failureOfEvent(chunk["error"]);
  return chunk;
}

async function probe(options: OpenAiOptions, signal: AbortSignal): Promise<void> {
  const watch = new Watch(signal, { ...options.timeouts, firstTokenMs: options.timeouts.connectMs });
  try {
    const url = `${options.baseUrl}${options.probePath ?? "/models"}`;
    const reply = await send({ url, method: "GET", headers: authorization(options) }, watch);
    await reply.body?.cancel();
  } finally {
    watch.end();
  }
}

function outgoing(options: OpenAiOptions, call: ProviderCall): Parameters<typeof send>[0] {
  return {
    url: `${options.baseUrl}/chat/completions`,
    method: "POST",
    body: outgoingBody(call),
    headers: {
      ...authorization(options),
      "content-type": "application/json",
      "x-request-id": call.requestId,
      "x-tollgate-attempt": String(call.attempt),
      ...(call.request.stream && { accept: "text/event-stream" }),
      "accept-encoding": "identity",
    },
  };
}

const authorization = ({ apiKey }: OpenAiOptions): Record<string, string> =>
  apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };
