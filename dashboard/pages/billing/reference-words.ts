// The reference of a ledger entry in plain words: `operator: INV-1` of a grant becomes `granted by the operator,
// INV-1`.
import { formatCount } from "../../format/count.ts";
import { billingTexts as words } from "./texts.ts";

const BY_THE_OPERATOR: Readonly<Record<string, string>> = {
  grant: "granted by the operator",
  purchase: "entered by the operator",
  refund: "given back by the operator",
};

const BY_OTHERS: Readonly<Record<string, string>> = {
  stripe: "through Stripe",
  test: "as a test",
  manual: "by invoice",
};

interface Named {
  kind: string;
  reference: string | null;
  /** The number that it covers. */
  requests: number;
}

/** Entries of requests have no reference: several of one instant are one entry. "" if there is nothing to say. */
export function entryWords({ kind, reference, requests }: Named): string {
  if (reference !== null) return referenceWords(kind, reference);
  if (requests > 0) return words.requests(formatCount(requests));
  return kind === "debt_paid" ? words.debtPaid : "";
}

/** A reference of another shape, or from an unknown source, is returned unchanged. */
export function referenceWords(kind: string, reference: string): string {
  const [, source, id] = /^([a-z]+): (.+)$/s.exec(reference) ?? [];
  if (source === undefined || id === undefined) return reference;
  if (source === "operator") return `${BY_THE_OPERATOR[kind] ?? "by the operator"}, ${id}`;
  const words = Object.hasOwn(BY_OTHERS, source) ? BY_OTHERS[source] : undefined;
  return words === undefined ? reference : `${words}, ${id}`;
}
