// Exactly one HTTP request to an upstream (wire.md §8.1): configured host, our headers only, no redirect, no retry.
// What fails before the connection stood is proof of non-execution; everything later is not.
import { Failure } from "./failure.ts";
import { failureOfReply } from "./upstream-error.ts";
import type { Watch } from "./watch.ts";

export interface Outgoing {
  url: string;
  method: "POST" | "GET";
  headers: Record<string, string>;
  body?: string;
}

const ERROR_BYTES_MAX = 64 * 1024;

/** The reply with status 200 and its unread body. Throws `Failure` for everything else. */
export async function send(outgoing: Outgoing, watch: Watch): Promise<Response> {
  let reply: Response;
  try {
    const { url, ...rest } = outgoing;
    reply = await fetch(url, { ...rest, redirect: "manual", signal: watch.signal });
  } catch (error) {
    throw watch.reason ?? failureOfSocket(error);
  }
  if (reply.status === 200) return reply;
  const text = await readBounded(reply, ERROR_BYTES_MAX, watch).catch(() => "");
  throw failureOfReply(reply.status, text, reply.headers);
}

/** The whole body as text; cut off and failed above `bytesMax`. Throws `Failure`. */
export async function readBounded(reply: Response, bytesMax: number, watch: Watch): Promise<string> {
  const length = reply.headers.get("content-length");
  try {
    if (length !== null && Number(length) <= bytesMax) return await reply.text();
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
    if (size > bytesMax)
      throw new Failure("broken", "unknown", `the upstream's answer is larger than ${bytesMax} bytes`);
    text += decoder.decode(bytes, { stream: true });
  }
  return text + decoder.decode();
}

/** Codes of Bun's fetch for a connection that never stood: no byte of the request was written. */
const NEVER_CONNECTED =
  /^(ConnectionRefused|FailedToOpenSocket|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|DNS\w*|\w*CERT\w*|ERR_TLS\w*|ERR_SSL\w*|UNABLE_TO_\w+)$/;

function failureOfSocket(error: unknown): Failure {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (NEVER_CONNECTED.test(code))
    return new Failure("connect", "no", `no connection to the upstream (${code})`);
  return lost(error);
}

/** The socket went away after bytes were written: nobody knows what ran. */
export const lost = (error: unknown): Failure =>
  new Failure(
    "broken",
    "unknown",
    `the connection to the upstream was lost (${error instanceof Error ? error.message : "unknown"})`,
  );
