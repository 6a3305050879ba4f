// Refusals that a seeded request meets before it reaches the ledger, with the details that the gateway
// states.
import { Refusal, type RefusalCode } from "../../domain/refusals.ts";
import type { Asked } from "../../domain/request-log.ts";

/** `priced`: whether it was refused after it had a price. */
export function earlyRefusal(
  code: RefusalCode,
  { bounds }: Asked,
): { status: number; details: Refusal["details"]; priced: boolean } {
  const { status } = new Refusal(code, code);
  const priced = code === "rate_limit_exceeded" || code === "overloaded";
  if (code !== "context_length_exceeded") return { status, details: undefined, priced };
  const prompt = (bounds?.promptTokens ?? 0) * 40;
  return {
    status,
    details: { context_window: 131_072, prompt_tokens: 131_072 + prompt, max_tokens: 4096 },
    priced,
  };
}
