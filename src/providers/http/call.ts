// Makes exactly one HTTP request to an upstream (wire.md §8.1): configured host, our headers only, no redirect,
// no retry; directly or through the configured proxy. A failure before the connection is established, or a complete refusal, is proof of non-execution
// (§8.3).
import { crashPoint } from "../../lib/crash-point.ts";
import { wantIn } from "../../lib/shortage.ts";
import { isUntrustedCertificate } from "../../lib/untrusted-certificate.ts";
import { inflated } from "../../lib/inflated.ts";
import type { Codec, Outgoing } from "../codec.ts";
import { Failure } from "../failure.ts";
import { type ErrorCodec, failureOfReply } from "./errors.ts";
import type { AnswerRoom } from "../provider.ts";
import { noConnectionFor } from "./opening.ts";
import type { ConnectProbe } from "./probe.ts";
import type { CallTimeouts } from "./timeouts.ts";

const ERROR_BYTES_MAX = 64 * 1024;
/** The body of an error response follows its status at once; otherwise the response is not complete. */
const ERROR_BODY_MS = 5000;

/** AWS uses 403 for expired or revoked keys, among much else. */
const ENDED = /security token [\w ]{0,60}\b(?:expired|invalid)\b/i;

/** What a request passes through; `codec` authenticates it, and reads the error response. */
export interface CallChannel {
  /** Null: the upstream is reached directly. */
  proxy: string | null;
  connectProbe: ConnectProbe;
  codec: ErrorCodec & Pick<Codec<unknown>, "authorize">;
}

/** Reads a response's body. */
export type BodyReader = ReadableStreamDefaultReader<Uint8Array>;

/** A response with status 200 and its unread body, and the headers that authenticated the call. */
export interface Replied {
  reply: Response;
  proof: Readonly<Record<string, string>>;
}

/**
 * Sends the request. Throws `Failure` unless the response has status 200. The headers object is this call's own: the
 * authentication is added to it.
 */
export async function send(
  outgoing: Outgoing,
  { proxy, connectProbe, codec }: CallChannel,
  timeouts: CallTimeouts,
): Promise<Replied> {
  const { method, headers, body } = outgoing;
  const probing = timeouts.reason === null ? connectProbe.check() : null;
  const unreachable = probing === null ? null : await untilCut(probing, timeouts);
  if (unreachable !== null) throw unreachable;
  if (timeouts.reason !== null) throw unsent(timeouts.reason);
  // Awaited even if it is available at once: this way the calls of one turn begin side by side, with no other work
  // between them.
  const proof = await proofOf(outgoing, codec, timeouts);
  if (timeouts.reason !== null) throw unsent(timeouts.reason);
  let reply: Response;
  try {
    const arrived = await fetch(outgoing.url, {
      method,
      headers: Object.assign(headers, proof),
      body: body ?? null,
      redirect: "manual",
      decompress: false,
      proxy: proxy ?? false,
      timeout: false, // CallTimeouts decides
      signal: timeouts.signal,
    });
    reply = inflated(arrived);
  } catch (error) {
    if (timeouts.reason !== null) throw timeouts.reason;
    const failure = failureOfSocket(error, proxy);
    if (failure.reason !== "shortage") connectProbe.suspect();
    throw failure;
  }
  if (body !== undefined) crashPoint("after_request_bytes"); // a probe has no body
  connectProbe.answered();
  if (reply.status === 200) return { reply, proof };
  const refusal = await refusalText(reply, timeouts);
  if (reply.status === 401 || (reply.status === 403 && ENDED.test(refusal ?? "")))
    codec.authorize.refused?.();
  throw failureOfReply(reply, refusal, { secrets: secretsIn(proof), codec });
}

/** Returns what must be redacted from all words of an upstream that received these headers. */
export const secretsIn = (proof: Replied["proof"]): readonly string[] =>
  Object.values(proof).map((value) => value.replace(/^bearer /i, ""));

/** Returns the headers that authenticate the call; without them nothing is sent. */
function proofOf(
  outgoing: Outgoing,
  codec: CallChannel["codec"],
  timeouts: CallTimeouts,
): Record<string, string> | Promise<Record<string, string>> {
  try {
    const proof = codec.authorize(outgoing, timeouts.signal);
    return proof instanceof Promise ? untilCut(proof, timeouts).catch(unproven) : proof;
  } catch (error) {
    return unproven(error);
  }
}

function unproven(error: unknown): never {
  throw error instanceof Failure ? unsent(error) : error;
}

/** Waits for a step before the request, or for the caller to give up; in both cases nothing was sent yet. */
async function untilCut<T>(step: Promise<T>, { signal }: CallTimeouts): Promise<T> {
  const { promise: cut, reject } = Promise.withResolvers<never>();
  const giveUp = (): void => reject(unsent(signal.reason as Failure));
  if (signal.aborted) giveUp();
  else signal.addEventListener("abort", giveUp, { once: true });
  try {
    return await Promise.race([step, cut]);
  } finally {
    signal.removeEventListener("abort", giveUp);
  }
}

const unsent = ({ reason, message, upstream }: Failure): Failure =>
  new Failure(reason, "no", `${message}; nothing was sent`, upstream);

/** Reads the body of an error response; null if it was cut or stalled, so that the response is incomplete. */
async function refusalText(reply: Response, timeouts: CallTimeouts): Promise<string | null> {
  const source = reply.body?.getReader() as BodyReader | undefined;
  if (source === undefined) return "";
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    void source.cancel().catch(() => {}); // ends the pending read
  }, ERROR_BODY_MS);
  try {
    const text = await readCounting(source, (bytes) => bytes <= ERROR_BYTES_MAX);
    return late || timeouts.reason !== null ? null : text;
  } catch (error) {
    // Larger than any error body needs to be: the status still counts.
    return error instanceof TooLarge ? "" : null;
  } finally {
    clearTimeout(timer);
  }
}

/** More bytes than there is room for. */
export class TooLarge extends Failure {
  constructor(bytes: number) {
    super("broken", "unknown", `the upstream's answer is too large: ${bytes} bytes so far`);
  }
}

interface Bounds {
  bytesMax: number;
  /** The memory for the answer, if its size was announced. */
  room?: AnswerRoom | null;
  timeouts: Pick<CallTimeouts, "reason">;
}

/**
 * Reads the whole body as text, counted after decompression; fails, and cancels the rest, above `bytesMax` or its
 * room. Throws `Failure`.
 */
export async function readBounded(
  reply: Response,
  { bytesMax, room = null, timeouts }: Bounds,
): Promise<string> {
  const { headers } = reply;
  const length = headers.get("content-length");
  // With either of these headers the length is no bound: chunks end where they say, whatever `content-length` is.
  const plain = !headers.has("content-encoding") && !headers.has("transfer-encoding");
  try {
    const fits = (bytes: number): boolean => bytes <= bytesMax && (room === null || room.holds(bytes));
    if (plain && length !== null && fits(Number(length))) return await reply.text();
    const source = reply.body?.getReader() as BodyReader | undefined;
    return source === undefined ? "" : await readCounting(source, fits);
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw timeouts.reason ?? lost(error);
  }
}

/** Throws `TooLarge` as soon as what was read does not fit, and cancels the rest. */
async function readCounting(source: BodyReader, fits: (bytes: number) => boolean): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  for (;;) {
    const { done, value } = await source.read();
    if (done) return text + decoder.decode();
    size += value.byteLength;
    if (!fits(size)) {
      void source.cancel().catch(() => {});
      throw new TooLarge(size);
    }
    text += decoder.decode(value, { stream: true });
  }
}

/**
 * Error codes of Bun's fetch for a connection that was never established: a port that refused, an unknown name, no
 * descriptor or port of our own, a rejected certificate, which is checked before the first byte of the request, a proxy
 * that opened no tunnel. No
 * other TLS error is proof: `EPROTO` is reported as "the handshake failed" even if the record after a written request
 * was broken, and a host that became unreachable may have received the request before. For those, the probe of the
 * next call is the proof.
 */
const NEVER_CONNECTED =
  /^(?:ECONNREFUSED|ConnectionRefused|FailedToOpenSocket|ENOTFOUND|EAI_\w+|EMFILE|ENFILE|EADDRNOTAVAIL|ERR_PROXY_TUNNEL)$/;

function failureOfSocket(error: unknown, proxy: string | null): Failure {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return NEVER_CONNECTED.test(code) || isUntrustedCertificate(code)
    ? noConnectionFor(error, proxy)
    : lost(error);
}

/** The socket was lost after bytes were written: nobody knows what ran. */
export function lost(error: unknown): Failure {
  const code = error instanceof Error && "code" in error ? String(error.code) : "no code";
  const reason = wantIn(code) === null ? "broken" : "shortage";
  return new Failure(reason, "unknown", `the connection to the upstream was lost (${code})`);
}
