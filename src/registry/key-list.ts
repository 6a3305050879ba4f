// The limit on how many API keys an organization has. A request reads only its own key, however many there are.

/** Keys that are not over; paused ones count. */
export const LIVE_KEYS_MAX = 1_000;

export type TooManyKeys = "too_many_keys";

/** Counts the live and paused keys of the organization `?1`. */
export const COUNT_LIVE_KEYS = `
  SELECT (SELECT count(*) FROM api_key WHERE org_id = ?1 AND revoked_at IS NULL)
    + (SELECT count(*) FROM api_key WHERE org_id = ?1 AND paused_at IS NOT NULL) AS keys`;
