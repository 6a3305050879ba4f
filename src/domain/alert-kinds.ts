// What alert rules watch. The kinds in the API, in the rules' store and in the form are this list (docs/alerts.md).
export const ALERT_KINDS = [
  "balance_below",
  "days_left_below",
  "key_limit",
  "spend_per_day",
  "error_rate",
  "route_not_live",
  "auto_top_up_failed",
] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];

/** The one field of a rule that holds its threshold; the others must be null. Null: the kind has no threshold. */
export const ALERT_THRESHOLDS: Readonly<Record<AlertKind, "amount_usd" | "percent" | "days" | null>> = {
  balance_below: "amount_usd",
  days_left_below: "days",
  key_limit: "percent",
  spend_per_day: "amount_usd",
  error_rate: "percent",
  route_not_live: null,
  auto_top_up_failed: null,
};
