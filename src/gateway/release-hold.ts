// A request that failed before anything was delivered: the whole hold goes back, and the caller's key is free again
// only with proof that no provider ran it (money.md §4, §8.7–8.8). Otherwise the refusal itself is kept under the key.
import { printError, refusalHeaders } from "../contract/error-body.ts";
import { Refusal } from "../contract/refusals.ts";
import { Failure } from "../providers/failure.ts";
import { refusalOf } from "./failure-refusal.ts";
import type { Hold } from "./hold.ts";

export interface Failed {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** Voids the hold and prints the error. `gateway` is the receipt as far as it is known. */
export async function releaseHold(hold: Hold, error: Failure | Refusal, gateway: string): Promise<Failed> {
  const proven = error instanceof Refusal || error.executed === "no";
  const refusal = error instanceof Refusal ? error : refusalOf(error);
  const { requestId, idempotency, startedAtMs } = hold.admitted;
  const body = printError(refusal, requestId, gateway);
  const headers = { "content-type": "application/json", ...refusalHeaders(refusal) };
  const kept = idempotency.callerSupplied && !proven;
  await hold.void({
    status: refusal.status,
    errorCode: error instanceof Failure && error.reason === "aborted" ? "client_left" : refusal.code,
    totalMs: Math.round(performance.now() - startedAtMs),
    freeClaim: proven,
    answer: kept ? { requestId, status: refusal.status, headers, body: Buffer.from(body) } : null,
  });
  return { status: refusal.status, headers, body };
}
