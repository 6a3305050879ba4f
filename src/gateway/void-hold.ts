// A request that failed before anything was delivered: the whole hold is returned, and the caller's key is free again only with
// proof that no provider ran it (money.md §4, §8.7–8.8). Otherwise the refusal itself is stored under the key.
import { refusalHeaders } from "../domain/error-body.ts";
import { Refusal } from "../domain/refusals.ts";
import { Failure } from "../providers/failure.ts";
import { callersMistake } from "./callers-field.ts";
import { refusalOf } from "./failure-refusal.ts";
import type { Hold } from "./hold.ts";

export interface Failed {
  refusal: Refusal;
  status: number;
  headers: Record<string, string>;
  body: string;
}

/**
 * For a bug between the two commits: an exception of any kind while an answer is priced, printed or settled. Nothing is charged on
 * a guess, so the whole hold is returned. Throws the error if the hold is not ours to resolve.
 */
export async function rescueHold(hold: Hold, error: unknown, gateway: string): Promise<Failed> {
  if (!hold.openAfter(error)) throw error;
  const failure = new Failure("broken", "unknown", "the gateway could not deliver the answer");
  try {
    return await voidHold(hold, failure, gateway);
  } catch (again) {
    hold.openAfter(again); // then it is reported, and recovery resolves it
    throw again;
  }
}

/** Voids the hold and prints the error. `gateway` is the receipt as far as it is known. */
export async function voidHold(hold: Hold, error: Failure | Refusal, gateway: string): Promise<Failed> {
  const proven = error instanceof Refusal || error.executed === "no";
  const { format, requestId, idempotency, startedAtMs } = hold.admitted;
  const refusal = error instanceof Refusal ? error : (callersMistake(hold, error) ?? refusalOf(error));
  const body = format.printError(refusal, requestId, gateway);
  const headers = { "content-type": "application/json", ...refusalHeaders(refusal) };
  const kept = idempotency.callerSupplied && !proven;
  await hold.void({
    status: refusal.status,
    errorCode: error instanceof Failure && error.reason === "aborted" ? "client_left" : refusal.code,
    totalMs: Math.round(performance.now() - startedAtMs),
    freeClaim: proven,
    answer: kept ? { requestId, status: refusal.status, headers, body: Buffer.from(body) } : null,
  });
  return { refusal, status: refusal.status, headers, body };
}
