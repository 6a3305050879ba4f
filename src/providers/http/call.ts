// Exactly one HTTP request to an upstream (wire.md §8.1): configured host, our headers only, no redirect, no proxy, no
// retry. What fails before the connection stood, or is refused by a complete reply, is proof of non-execution (§8.3).
import { crashPoint } from "../../lib/crash-point.ts";
import { wantIn } from "../../lib/shortage.ts";
import { inflated } from "../../lib/inflated.ts";
import type { Codec, Outgoing } from "../codec.ts";
import { Failure, noConnection } from "../failure.ts";
import { type ErrorCodec, failureOfReply } from "./errors.ts";
import type { AnswerRoom } from "../provider.ts";
import type { ConnectProbe } from "./probe.ts";
import type { CallTimeouts } from "./timeouts.ts";

const ERROR_BYTES_MAX = 64 * 1024;
/** A refusal's body follows its status at once; one that does not is no complete reply. */
const ERROR_BODY_MS = 5000;

/** AWS says 403 of keys that have ended or were taken back, as of much else. */
const ENDED = /security token [\w ]{0,60}\b(?:expired|invalid)\b/i;

/** What a request goes through; `codec` says whose it is, and reads why it was refused. */
export interface CallChannel {
  connectProbe: ConnectProbe;
  codec: ErrorCodec & Pick<Codec<unknown>, "authorize">;
}

/** A reply's body as it is read. */
export type BodyReader = ReadableStreamDefaultReader<Uint8Array>;

/** A reply with status 200 and its unread body, and the headers that proved whose call it was. */
export interface Replied {
  reply: Response;
  proof: Readonly<Record<string, string>>;
}

/** Throws `Failure` for everything but a reply with status 200. The headers are this call's own: its proof joins them. */
export async function send(
  outgoing: Outgoing,
  { connectProbe, codec }: CallChannel,
  timeouts: CallTimeouts,
): Promise<Replied> {
  const { method, headers, body } = outgoing;
  const probing = timeouts.reason === null ? connectProbe.check() : null;
  const unreachable = probing === null ? null : await untilCut(probing, timeouts);
  if (unreachable !== null) throw unreachable;
  if (timeouts.reason !== null) throw unsent(timeouts.reason);
  // Waited for also where it is there: so the calls of a turn begin side by side, with nothing of the line between them.
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
      proxy: false,
      timeout: false, // CallTimeouts decides
      signal: timeouts.signal,
    });
    reply = inflated(arrived);
  } catch (error) {
    if (timeouts.reason !== null) throw timeouts.reason;
    const failure = failureOfSocket(error);
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

/** What must not be kept of any word of an upstream that was shown this. */
export const secretsIn = (proof: Replied["proof"]): readonly string[] =>
  Object.values(proof).map((value) => value.replace(/^bearer /i, ""));

/** Headers that prove whose call it is; without them nothing is sent. */
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

/** Waits for what comes before the request, or for the caller to give up; either way nothing was sent. */
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
  new Failure(reason, "no", `${message}, nothing sent`, upstream);

/** The body of a refusing reply; null when it was cut or stalled, so that the reply is not complete. */
async function refusalText(reply: Response, timeouts: CallTimeouts): Promise<string | null> {
  const source = reply.body?.getReader() as BodyReader | undefined;
  if (source === undefined) return "";
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    void source.cancel().catch(() => {}); // what is being read of it ends there
  }, ERROR_BODY_MS);
  try {
    const text = await readCounting(source, (bytes) => bytes <= ERROR_BYTES_MAX);
    return late || timeouts.reason !== null ? null : text;
  } catch (error) {
    // Larger than any refusal needs to be: its status still speaks.
    return error instanceof TooLarge ? "" : null;
  } finally {
    clearTimeout(timer);
  }
}

/** More bytes than there is room for. */
export class TooLarge extends Failure {
  constructor(bytes: number) {
    super(
      "broken",
      "unknown",
      `the upstream's answer is larger than there is room for: ${bytes} bytes so far`,
    );
  }
}

interface Bounds {
  bytesMax: number;
  /** What it takes of memory, where that was told before. */
  room?: AnswerRoom | null;
  timeouts: Pick<CallTimeouts, "reason">;
}

/** The whole body as text, counted after decompression; failed and cut off above `bytesMax` or its room. Throws `Failure`. */
export async function readBounded(
  reply: Response,
  { bytesMax, room = null, timeouts }: Bounds,
): Promise<string> {
  const { headers } = reply;
  const length = headers.get("content-length");
  // Beside either of these a length is no bound: chunks end where they say so, whatever stands in `content-length`.
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
 * Codes of Bun's fetch for a connection that never stood: a port that refused, a name that is none, no descriptor or port of
 * our own, a certificate that was not taken, which is judged before the first byte of the request. No other TLS error is proof: `EPROTO` is called "the
 * handshake failed" also when the record behind a written request was broken, and a host that became unreachable may have
 * had the request before. The probe of the next call proves what those cannot.
 */
const NEVER_CONNECTED =
  /^(ECONNREFUSED|ConnectionRefused|FailedToOpenSocket|ENOTFOUND|EAI_\w+|EMFILE|ENFILE|EADDRNOTAVAIL|CERT_\w+|(DEPTH_ZERO_)?SELF_SIGNED_CERT\w*|UNABLE_TO_\w+|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|ERR_TLS_CERT_ALTNAME_INVALID)$/;

function failureOfSocket(error: unknown): Failure {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return NEVER_CONNECTED.test(code) ? noConnection(code) : lost(error);
}

/** The socket went away after bytes were written: nobody knows what ran. */
export function lost(error: unknown): Failure {
  const code = error instanceof Error && "code" in error ? String(error.code) : "no code";
  const reason = wantIn(code) === null ? "broken" : "shortage";
  return new Failure(reason, "unknown", `the connection to the upstream was lost (${code})`);
}
