// Terms of alert rules, as tests write them.
import type { RuleTerms } from "../../src/alerts/rule-book.ts";
import { nanoUsd } from "../../src/domain/money.ts";

/** A rule for a balance below so many dollars. */
export const below = (dollars: number, enabled = true): RuleTerms => ({
  kind: "balance_below",
  amount: nanoUsd(BigInt(dollars) * 1_000_000_000n),
  percent: null,
  days: null,
  keyId: null,
  channels: [],
  enabled,
});
