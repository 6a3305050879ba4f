// Parameters of usage queries: their groups, and the windows of time that end now.

export const USAGE_GROUPS = ["model", "key", "member", "scope", "provider", "region"] as const;

/** `month`: the current month in UTC, from its first day. */
export const RANGES = ["24h", "7d", "30d", "month"] as const;
export type TimeRange = (typeof RANGES)[number];
