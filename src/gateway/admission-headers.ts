// What the headers of an answer say of its admission: its key, the maximum it was priced for, what is left (wire.md §6).
import { formatUsd } from "../domain/money.ts";
import type { Admitted } from "./hold.ts";
import type { IdempotencyKey } from "./idempotency.ts";

type Headers = Record<string, string>;

/** The key that was made for a caller who sent none; it names this request and protects no retry. */
export function addIdempotency(headers: Headers, { value, callerSupplied }: IdempotencyKey): void {
  if (!callerSupplied) headers["x-gw-idempotency-key"] = value;
}

/**
 * Reports the output maximum, in tokens per choice, if it is not the caller's own: none was named, or it was lowered (wire.md §6).
 */
export function addMaximum(headers: Headers, { request, outputCeiling }: Admitted): void {
  if (outputCeiling > 0 && outputCeiling !== request.maxTokens)
    headers["x-gw-max-output-tokens"] = String(outputCeiling);
}

/** What was held, and what is left to spend, in US dollars. */
export function addHeadroom(headers: Headers, { amount, headroom }: Admitted): void {
  headers["x-gw-hold-usd"] = formatUsd(amount);
  headers["x-gw-credits-available-usd"] = formatUsd(headroom.available);
  if (headroom.keyLimitRemaining !== null)
    headers["x-gw-key-limit-remaining-usd"] = formatUsd(headroom.keyLimitRemaining);
}
