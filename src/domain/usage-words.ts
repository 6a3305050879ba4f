// What usage is asked for by: its groups, and the windows of time that end now.

export const USAGE_GROUPS = ["model", "key", "member", "scope", "provider", "region"] as const;

/** `month`: of UTC, from its first day. */
export const RANGES = ["24h", "7d", "30d", "month"] as const;
export type TimeRange = (typeof RANGES)[number];
