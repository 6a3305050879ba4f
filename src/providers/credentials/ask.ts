// One request to a server that issues credentials: bounded in time and bytes, sent only to the configured host,
// without redirects. The words of its refusal are kept without what was sent to it.
import { inflated } from "../../lib/inflated.ts";
import { Failure, type FailureCause, noConnection } from "../failure.ts";
import { readBounded } from "../http/call.ts";
import { fitToShow } from "../http/words.ts";

const TOKEN_ANSWER_BYTES_MAX = 64 * 1024;
/** The timeout of a whole renewal, responses included. */
export const RENEWAL_MS = 10_000;

/** The server, by its name for people, and the deadline of the whole exchange. */
export interface Lender {
  who: string;
  signal: AbortSignal;
  ms: number;
}

/** `ms` is the timeout of the whole exchange, from now on; failures name `who`. */
export const lender = (who: string, ms: number): Lender => ({ who, signal: AbortSignal.timeout(ms), ms });

interface Asked {
  method: "GET" | "POST" | "PUT";
  headers: Record<string, string>;
  body?: string;
}

/** Returns its response, whatever the status. Throws `Failure` if there is none. */
export async function askLender(
  from: Lender,
  url: string,
  { method, headers, body }: Asked,
): Promise<{ status: number; text: string }> {
  const { signal, ms } = from;
  const late = (): Failure | null =>
    signal.aborted ? unavailable(from, `did not answer within ${ms} ms`, "connect_timeout") : null;
  try {
    const reply = await fetch(url, {
      method,
      headers: { "accept-encoding": "identity", "user-agent": "tollgate", ...headers },
      ...(body !== undefined && { body }),
      redirect: "manual",
      decompress: false,
      timeout: false, // the signal decides
      signal,
    });
    const timeouts = { reason: null };
    const text = await readBounded(inflated(reply), { bytesMax: TOKEN_ANSWER_BYTES_MAX, timeouts });
    return { status: reply.status, text };
  } catch (error) {
    if (error instanceof Failure) throw late() ?? unavailable(from, `broke off: ${error.message}`);
    const code = error instanceof Error && "code" in error ? String(error.code) : "no code";
    const { reason } = noConnection(code);
    throw late() ?? unavailable(from, `did not answer (${code})`, reason);
  }
}

/** Returns the failure of a server that issued nothing; its words go into the attempt's record. */
export function unavailable(
  { who }: Pick<Lender, "who">,
  what: string,
  reason: FailureCause = "unavailable",
): Failure {
  const words = `${who} ${what}`;
  return new Failure(reason, "no", words, { words });
}

interface Refusal {
  status: number;
  /** Its error code, and its description. */
  code: unknown;
  said: unknown;
}

/** The failure for a refusal: 400 and 401 are about our account there. */
export function refusedBy({ who }: Lender, refusal: Refusal, secrets: readonly string[]): Failure {
  const { status, code, said } = refusal;
  const word = typeof code === "string" ? (/^[\w.-]{1,64}/.exec(code)?.[0] ?? "no code") : "no code";
  const told = [code, said].filter((one) => typeof one === "string").join(": ");
  const message = `${who} answered ${status} (${word})`;
  return new Failure(causeOf(status), "no", message, { words: fitToShow(told, secrets) ?? message });
}

function causeOf(status: number): FailureCause {
  if (status === 429) return "rate_limited";
  return status >= 400 && status < 500 && status !== 408 ? "account" : "unavailable";
}
