// An alert rule as a sentence.
import type { AlertKind } from "../../../src/domain/alert-kinds.ts";
import type { Row } from "../../api/routes.ts";
import { formatMoney } from "../../format/money.ts";
import { alertsTexts } from "./texts.ts";

type AlertRule = Row<"GET /orgs/{org}/alerts/rules">;

/** The condition of a rule, with its threshold in place of `value`. */
export const SENTENCES: Record<AlertKind, (value: string) => string> = alertsTexts.conditions;

/** Names by id. */
export type Names = ReadonlyMap<string, string>;

export const namesOf = (rows: readonly { id: string; name: string }[] = []): Names =>
  new Map(rows.map(({ id, name }) => [id, name]));

export function conditionOf({ kind, amount_usd, percent, days, key }: AlertRule, keys: Names): string {
  if (key !== null) return alertsTexts.keyLimitOf(keys.get(key) ?? key, `${percent} %`);
  if (amount_usd !== null) return SENTENCES[kind](formatMoney(amount_usd));
  if (percent !== null) return SENTENCES[kind](`${percent} %`);
  return SENTENCES[kind](String(days ?? ""));
}
