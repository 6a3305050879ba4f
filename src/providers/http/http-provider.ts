// Implements `Provider` for one upstream of any wire shape: a codec decides what is said, and each call is one HTTP
// request (wire.md §8.1). Whole answers are read within one bound of time and bytes, streams as they come.
import { ANSWER_BYTES_MAX } from "../../domain/answer-size.ts";
import type { AnswerReader, Codec, Outgoing } from "../codec.ts";
import { Failure } from "../failure.ts";
import { NativeReader } from "../native.ts";
import type { Answer, CountCall, Provider, ProviderCall, ProviderStream } from "../provider.ts";
import { answerOf } from "./answer.ts";
import { readBounded, secretsIn, send, TooLarge } from "./call.ts";
import { readParts } from "./events.ts";
import { ConnectProbe } from "./probe.ts";
import { CallTimeouts, type Timeouts } from "./timeouts.ts";

/** The address of a provider, whatever its shape. */
export interface ProviderAddress {
  /** The name that releases use. */
  name: string;
  /** Up to and including its version segment. */
  baseUrl: string;
  timeouts: Timeouts;
  /** Path of a cheap GET below the base URL, such as `/models`; null = a probe only connects. */
  probePath: string | null;
  /** True if it is sent the trace that a call belongs to. */
  traceparent?: boolean;
  /** The proxy that leads there (`lib/outbound.ts`); null or absent: it is reached directly. */
  proxy?: string | null;
}

/** Returns the provider, one for each configured one; it holds no connection, only what is known of its host. */
export function httpProvider<Event>(upstream: ProviderAddress, codec: Codec<Event>): Provider {
  const line: Line<Event> = {
    ...upstream,
    baseUrl: upstream.baseUrl.replace(/\/+$/, ""),
    codec,
    wholeTimeouts: { ...upstream.timeouts, firstTokenMs: upstream.timeouts.totalMs },
    proxy: upstream.proxy ?? null,
    connectProbe: new ConnectProbe(upstream.baseUrl, upstream.timeouts.connectMs, upstream.proxy ?? null),
  };
  return {
    name: upstream.name,
    fields: codec.fields,
    ...(codec.temperatureMax !== undefined && { temperatureMax: codec.temperatureMax }),
    ...(codec.files !== undefined && { files: codec.files }),
    ...(codec.speaks !== undefined && { speaks: codec.speaks }),
    prepare: (draft) => codec.prepare(draft),
    complete: (call) => complete(line, call),
    stream: (call) => stream(line, call),
    ...(codec.counting !== undefined && { countTokens: (call: CountCall) => countTokens(line, call) }),
    probe: (signal) => probe(line, signal),
  };
}

interface Line<Event> extends ProviderAddress {
  /** For a whole answer, whose first byte may come at its end. */
  wholeTimeouts: Pick<Timeouts, "firstTokenMs" | "idleMs" | "totalMs">;
  codec: Codec<Event>;
  proxy: string | null;
  connectProbe: ConnectProbe;
}

async function complete<Event>(line: Line<Event>, call: ProviderCall): Promise<Answer> {
  const timeouts = new CallTimeouts(call.signal, line.wholeTimeouts);
  try {
    const { reply } = await send(outgoing(line, call), line, timeouts);
    const text = await readBounded(reply, { bytesMax: ANSWER_BYTES_MAX, room: call.room, timeouts });
    const reader = line.codec.reader(call);
    const answer = answerOf(text, reader);
    if (call.body.native && reader.told !== undefined) answer.native = reader.told();
    return answer;
  } catch (error) {
    throw (error instanceof TooLarge ? line.codec.tooLarge?.(call) : null) ?? error;
  } finally {
    timeouts.end();
  }
}

async function stream<Event>(line: Line<Event>, call: ProviderCall): Promise<ProviderStream> {
  const timeouts = new CallTimeouts(call.signal, line.timeouts);
  try {
    const { reply, proof } = await send(outgoing(line, call), line, timeouts);
    await requireStream(reply);
    const reader = streamReader(line.codec, call);
    const framing = line.codec.framing();
    return {
      upstreamId: () => reader.id,
      parts: readParts(reply, { framing, reader, timeouts, secrets: secretsIn(proof) }),
    };
  } catch (error) {
    timeouts.end();
    throw error;
  }
}

/** A count is a number in an object. */
const COUNT_BYTES_MAX = 64 * 1024;

async function countTokens<Event>(line: Line<Event>, call: CountCall): Promise<number> {
  const { baseUrl, codec } = line;
  const { counting } = codec;
  const body = call.body.counted?.();
  if (counting === undefined || body === undefined)
    throw new Failure("rejected", "no", "this provider cannot count tokens");
  const { withinMs: ms } = call;
  const timeouts = new CallTimeouts(call.signal, { firstTokenMs: ms, idleMs: ms, totalMs: ms });
  try {
    const { path, headers } = counting.target(call);
    const counted: Outgoing = {
      url: `${baseUrl}${path}`,
      method: "POST",
      body,
      headers: { ...headers, ...OURS, "x-request-id": call.requestId },
    };
    const { reply } = await send(counted, line, timeouts);
    const tokens = counting.read(await readBounded(reply, { bytesMax: COUNT_BYTES_MAX, timeouts }));
    if (tokens !== null) return tokens;
    throw new Failure("broken", "unknown", "the upstream did not return a count");
  } finally {
    timeouts.end();
  }
}

/** Only shapes with events of text have native bodies. */
function streamReader<Event>(codec: Codec<Event>, call: ProviderCall): AnswerReader<Event> {
  const reader = codec.reader(call);
  return call.body.native ? (new NativeReader(reader as AnswerReader<never>) as AnswerReader<never>) : reader;
}

async function requireStream({ headers, body }: Response): Promise<void> {
  if (!/^(text\/html|application\/json)\b/i.test(headers.get("content-type") ?? "")) return;
  await body?.cancel();
  throw new Failure("broken", "unknown", "the upstream did not answer with a stream");
}

/** A provider is alive if it answers: even with an unknown path, but not with a rejected account or a 5xx. */
async function probe<Event>(line: Line<Event>, signal: AbortSignal): Promise<void> {
  const { connectMs } = line.timeouts;
  const timeouts = new CallTimeouts(signal, {
    firstTokenMs: connectMs,
    idleMs: connectMs,
    totalMs: connectMs,
  });
  try {
    await answers(line, timeouts);
  } finally {
    timeouts.end();
  }
}

async function answers<Event>(line: Line<Event>, timeouts: CallTimeouts): Promise<void> {
  if (line.probePath === null) {
    const failure = await line.connectProbe.check();
    if (failure !== null) throw failure;
    return;
  }
  try {
    const url = `${line.baseUrl}${line.probePath}`;
    const { reply } = await send({ url, method: "GET", headers: { ...OURS } }, line, timeouts);
    await reply.body?.cancel();
  } catch (error) {
    if (!(error instanceof Failure) || !isAlive(error)) throw error;
  }
}

/** A 403 that does not mention our account may be about a caller's request; a probe has no caller, so it is about ours. */
const isAlive = ({ reason, upstream: { status } }: Failure): boolean =>
  reason === "rate_limited" || (reason === "rejected" && status !== 403);

const OURS = { "accept-encoding": "identity", "user-agent": "tollgate" } as const;

function outgoing<Event>({ baseUrl, codec, traceparent }: Line<Event>, call: ProviderCall): Outgoing {
  const { path, headers } = codec.target(call);
  Object.assign(headers, OURS);
  headers["x-request-id"] = call.requestId;
  headers["x-tollgate-attempt"] = String(call.attempt);
  if (traceparent === true && call.traceparent) headers["traceparent"] = call.traceparent;
  return { url: `${baseUrl}${path}`, method: "POST", body: call.body.print(call.outputCeiling), headers };
}
