// Limits on how many API keys an organization has, and how many are listed in one page. A request reads only its own
// key, however many there are.

/** Keys that are not over; paused ones count. */
export const LIVE_KEYS_MAX = 1_000;
/** Older versions had no limit: a list has room for more keys than may be created. */
const LIVE_LISTED = 2 * LIVE_KEYS_MAX;
/** The ones revoked last. */
const REVOKED_LISTED = 500;

export type TooManyKeys = "too_many_keys";

/** The keys of the organization `?2` that a list shows, as a table. */
export const LISTED_KEYS = `(
  SELECT * FROM (SELECT * FROM api_key WHERE org_id = ?2 AND revoked_at IS NULL
    ORDER BY created_at DESC LIMIT ${LIVE_LISTED}) AS live
  UNION ALL
  SELECT * FROM (SELECT * FROM api_key WHERE org_id = ?2 AND paused_at IS NOT NULL
    ORDER BY created_at DESC LIMIT ${LIVE_LISTED}) AS paused
  UNION ALL
  SELECT * FROM (SELECT * FROM api_key WHERE org_id = ?2 AND revoked_at IS NOT NULL AND paused_at IS NULL
    ORDER BY revoked_at DESC LIMIT ${REVOKED_LISTED}) AS revoked)`;

/** Counts the live and paused keys of the organization `?1`. */
export const COUNT_LIVE_KEYS = `
  SELECT (SELECT count(*) FROM api_key WHERE org_id = ?1 AND revoked_at IS NULL)
    + (SELECT count(*) FROM api_key WHERE org_id = ?1 AND paused_at IS NOT NULL) AS keys`;
