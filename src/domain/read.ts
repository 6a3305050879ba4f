// Converts texts that passed their schema into domain types.
import { type NanoUsd, parseUsd } from "./money.ts";
import { Refusal } from "./refusals.ts";

/** An exact amount in US dollars. Throws `Refusal` for an amount that no ledger row can hold. */
export function readUsd(text: string, param: string): NanoUsd {
  const amount = parseUsd(text);
  if (amount !== null) return amount;
  throw new Refusal("invalid_request", `${param} must be US dollars like "5.00" with at most 9 decimals.`, {
    param,
  });
}

/** Milliseconds since the epoch; a bare date means its first instant in UTC. */
export function readTime(text: string, param: string): number {
  const ms = Date.parse(text);
  if (Number.isFinite(ms)) return ms;
  throw new Refusal("invalid_request", `${param} must be a time like 2026-12-31T00:00:00Z.`, { param });
}

/** A time in the future. */
export function readFutureTime(text: string, param: string, nowMs: number): number {
  const ms = readTime(text, param);
  if (ms > nowMs) return ms;
  throw new Refusal("invalid_request", `${param} must be in the future.`, { param });
}
