// Exactly one HTTP request to an upstream (wire.md §8.1): configured host, our headers only, no redirect, no proxy, no
// retry. What fails before the connection stood, or is refused by a complete reply, is proof of non-execution (§8.3).
import { crashPoint } from "../lib/crash-point.ts";
import { Failure } from "./failure.ts";
import type { Knock } from "./knock.ts";
import { failureOfReply } from "./upstream-error.ts";
import type { Watch } from "./watch.ts";

export interface Outgoing {
  url: string;
  method: "POST" | "GET";
  headers: Record<string, string>;
  body?: string;
}

const ERROR_BYTES_MAX = 64 * 1024;
/** A refusal's body follows its status at once; one that does not is no complete reply. */
const ERROR_BODY_MS = 5000;

/** The reply with status 200 and its unread body. Throws `Failure` for everything else. */
export async function send(outgoing: Outgoing, through: { knock: Knock; watch: Watch }): Promise<Response> {
  const { knock, watch } = through;
  const shut = watch.reason === null ? knock.answer() : null;
  if (shut !== null) await opened(shut, watch);
  if (watch.reason !== null) throw unsent(watch.reason);
  const reply = await dispatched(outgoing, watch);
  if (outgoing.body !== undefined) crashPoint("after_request_bytes"); // a probe has no body
  knock.heard();
  if (reply.status === 200) return reply;
  throw failureOfReply(reply, await refusalText(reply, watch));
}

/** Waits for the knock, or for the caller to give up; either way nothing was sent. */
async function opened(knocking: Promise<Failure | null>, { signal }: Watch): Promise<void> {
  const { promise: cut, resolve } = Promise.withResolvers<null>();
  const give = (): void => resolve(null);
  signal.addEventListener("abort", give, { once: true });
  const failure = await Promise.race([knocking, cut]);
  signal.removeEventListener("abort", give);
  if (failure !== null) throw failure;
}

const unsent = ({ reason, message }: Failure): Failure =>
  new Failure(reason, "no", `${message}, nothing sent`);

async function dispatched({ url, ...outgoing }: Outgoing, watch: Watch): Promise<Response> {
  try {
    return await fetch(url, {
      ...outgoing,
      redirect: "manual",
      proxy: false,
      timeout: false, // the watch decides
      signal: watch.signal,
    });
  } catch (error) {
    throw watch.reason ?? failureOfSocket(error);
  }
}

/** The body of a refusing reply; null when it was cut or stalled, so that the reply is not complete. */
async function refusalText(reply: Response, watch: Watch): Promise<string | null> {
  const timer = setTimeout(() => void reply.body?.cancel().catch(() => {}), ERROR_BODY_MS);
  const startedAtMs = performance.now();
  try {
    const text = await readBounded(reply, { bytesMax: ERROR_BYTES_MAX, watch });
    return performance.now() - startedAtMs < ERROR_BODY_MS ? text : null;
  } catch (error) {
    // Larger than any refusal needs to be: its status still speaks.
    return error instanceof TooLarge ? "" : null;
  } finally {
    clearTimeout(timer);
  }
}

class TooLarge extends Failure {
  constructor(bytesMax: number) {
    super("broken", "unknown", `the upstream's answer is larger than ${bytesMax} bytes`);
  }
}

/** The whole body as text, counted after decompression; failed and cut off above `bytesMax`. Throws `Failure`. */
export async function readBounded(
  reply: Response,
  { bytesMax, watch }: { bytesMax: number; watch: Watch },
): Promise<string> {
  const length = reply.headers.get("content-length");
  const plain = reply.headers.get("content-encoding") === null;
  try {
    if (plain && length !== null && Number(length) <= bytesMax) return await reply.text();
    return await readCounting(reply, bytesMax);
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw watch.reason ?? lost(error);
  }
}

async function readCounting(reply: Response, bytesMax: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  for await (const bytes of reply.body ?? []) {
    size += bytes.byteLength;
    if (size > bytesMax) throw new TooLarge(bytesMax); // leaving the loop cancels the body
    text += decoder.decode(bytes, { stream: true });
  }
  return text + decoder.decode();
}

/** Codes of Bun's fetch for a connection that never stood: no byte of the request was written. */
const NEVER_CONNECTED =
  /^(ECONNREFUSED|ConnectionRefused|FailedToOpenSocket|ENOTFOUND|EAI_\w+|EHOSTUNREACH|ENETUNREACH|EPROTO|\w*CERT\w*|ERR_TLS\w*|ERR_SSL\w*|UNABLE_TO_\w+)$/;

function failureOfSocket(error: unknown): Failure {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (NEVER_CONNECTED.test(code))
    return new Failure("connect", "no", `no connection to the upstream (${code})`);
  return lost(error);
}

/** The socket went away after bytes were written: nobody knows what ran. */
export function lost(error: unknown): Failure {
  const code = error instanceof Error && "code" in error ? String(error.code) : "no code";
  return new Failure("broken", "unknown", `the connection to the upstream was lost (${code})`);
}
