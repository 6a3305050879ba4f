// How many API keys an organization has, and how many of them anybody reads at once. A request reads its own key and no
// other, however many there are.

/** That are not over; paused ones keep their place. */
export const LIVE_KEYS_MAX = 1_000;
/** An older version knew no bound: a list has room for more than may be made. */
const LIVE_LISTED = 2 * LIVE_KEYS_MAX;
/** Revoked last. */
const REVOKED_LISTED = 500;

export type TooManyKeys = "too_many_keys";

/** What a list shows of the keys of the organization `?2`, as a table. */
export const LISTED_KEYS = `(
  SELECT * FROM (SELECT * FROM api_key WHERE org_id = ?2 AND revoked_at IS NULL
    ORDER BY created_at DESC LIMIT ${LIVE_LISTED}) AS live
  UNION ALL
  SELECT * FROM (SELECT * FROM api_key WHERE org_id = ?2 AND paused_at IS NOT NULL
    ORDER BY created_at DESC LIMIT ${LIVE_LISTED}) AS paused
  UNION ALL
  SELECT * FROM (SELECT * FROM api_key WHERE org_id = ?2 AND revoked_at IS NOT NULL AND paused_at IS NULL
    ORDER BY revoked_at DESC LIMIT ${REVOKED_LISTED}) AS revoked)`;

/** Live and paused keys of the organization `?1`. */
export const COUNT_LIVE_KEYS = `
  SELECT (SELECT count(*) FROM api_key WHERE org_id = ?1 AND revoked_at IS NULL)
    + (SELECT count(*) FROM api_key WHERE org_id = ?1 AND paused_at IS NOT NULL) AS keys`;
