// What a receipt states twice: it contains the `gateway` object of the answer, which repeats other
// members. Verifying a receipt compares both, because people read either one (specification 2.2).
import { isJsonObject } from "../domain/read-value.ts";
import type { ReceiptJson } from "../domain/receipt.ts";
import { nanoOf } from "./receipt-price.ts";

/** A statement of the receipt and what the rest of the receipt implies for it. */
export interface SaidTwice {
  /** Path of the member, like `gateway.cost.input_tokens`. */
  what: string;
  stated: string;
  found: string;
}

/**
 * Returns each member of the `gateway` object that the rest of the receipt also states, with both texts, whether or not they
 * differ. Lines are not included: they follow from prices. What a receipt of an older program does not state is left out.
 */
export function gatewayClaims({ gateway, ...receipt }: ReceiptJson): SaidTwice[] {
  const { charge, hold, usage } = receipt;
  const cost = isJsonObject(gateway["cost"]) ? gateway["cost"] : {};
  const { customer_charge_usd: charged = 0 } = cost;
  // If the hold capped the charge, tokens beyond the quoted bounds were not charged for.
  const capped = (nanoOf(charge.above_hold_usd) ?? 0n) > 0n;
  const tokens = (used: number, bound: number): number => (capped ? Math.min(used, bound) : used);
  const claims: [what: string, stated: unknown, found: unknown][] = [
    ["gateway.request_id", gateway.request_id, receipt.request_id],
    ["gateway.cost", typeof charged === "number" ? charged.toFixed(9) : charged, charge.usd],
    ["gateway.cost.minimum_applied", cost["minimum_applied"], charge.minimum_applied],
    ["gateway.cost.evidence", cost["evidence"], charge.evidence],
    [
      "gateway.cost.input_tokens",
      cost["input_tokens"],
      usage && tokens(usage.prompt_tokens, hold.prompt_tokens_max),
    ],
    [
      "gateway.cost.output_tokens",
      cost["output_tokens"],
      usage && tokens(usage.completion_tokens, hold.output_tokens_max),
    ],
  ];
  return claims
    .filter(([, stated]) => stated !== undefined)
    .map(([what, stated, found]) => ({ what, stated: textOf(stated), found: textOf(found) }));
}

/** Returns where two JSON values differ, by path in the order of the first; empty if equal, in any order of names. */
export function differencesOf(path: string, stated: unknown, found: unknown): SaidTwice[] {
  const [one, other] = [membersOf(stated), membersOf(found)];
  if (one === null || other === null || Array.isArray(stated) !== Array.isArray(found))
    return Object.is(stated, found) ? [] : [{ what: path, stated: textOf(stated), found: textOf(found) }];
  return [...new Set([...one.keys(), ...other.keys()])].flatMap((name) =>
    differencesOf(`${path}.${name}`, one.get(name), other.get(name)),
  );
}

const membersOf = (value: unknown): Map<string, unknown> | null =>
  typeof value === "object" && value !== null ? new Map(Object.entries(value)) : null;

/** Prints a value for people; "nothing" for a missing one. */
const textOf = (value: unknown): string =>
  value === undefined ? "nothing" : typeof value === "string" ? value : JSON.stringify(value);
