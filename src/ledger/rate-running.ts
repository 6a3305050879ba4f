// Counts the running requests of a subject from the requests themselves: for a limit that begins, and
// to find and correct a wrong count, which a gateway of an older version leaves behind while both run.
import type { RatePlace } from "../domain/rate-limits.ts";
import { ask, numberOf, type Query, textOf } from "../store/sql.ts";
import { lockOrganization } from "./balance.ts";
import type { Transactions } from "./ledger.ts";

/** The running requests of all organizations are fewer than all that one ever sent, so their index is used. */
const RUNNING = {
  sqlite: "request INDEXED BY request_unfinished WHERE state = 'dispatched'",
  postgresql: "request WHERE closed_txn IS NULL",
};
const both = (text: (running: string) => string) => ({
  sqlite: text(RUNNING.sqlite),
  postgresql: text(RUNNING.postgresql),
});

const COUNT = both(
  (running) => `WITH running AS MATERIALIZED (SELECT org_id, key_id, model FROM ${running})
    SELECT count(*) AS running FROM running
    WHERE org_id = ?1 AND (?2 = '' OR key_id = ?2) AND (?3 = '' OR model = ?3)`,
);

/** Requires the lock of its organization. */
export function* countRunning({ organizationId, keyId, model }: RatePlace): Query<number> {
  const [row] = yield* ask(COUNT, [organizationId, keyId, model]);
  return numberOf(row?.["running"]);
}

/** The name for corrections, which queue with changes of limits. */
const MENDING = "mending";
/** The maximum number of corrections per run. */
const AT_ONCE = 100;

/** Each limit with a wrong count: organization, key, model, expected count, actual count. */
export const WRONGLY_COUNTED = both(
  (running) => `WITH running AS MATERIALIZED (SELECT org_id, key_id, model FROM ${running}),
    counted AS (
      SELECT org_id, '' AS key_id, '' AS model, count(*) AS found FROM running GROUP BY org_id
      UNION ALL SELECT org_id, key_id, '', count(*) FROM running GROUP BY org_id, key_id
      UNION ALL SELECT org_id, '', model, count(*) FROM running GROUP BY org_id, model
      UNION ALL SELECT org_id, key_id, model, count(*) FROM running GROUP BY org_id, key_id, model)
    SELECT l.org_id, l.key_id, l.model, coalesce(c.found, 0) AS found, l.running
    FROM rate_limit l
    LEFT JOIN counted c ON c.org_id = l.org_id AND c.key_id = l.key_id AND c.model = l.model
    WHERE l.running <> coalesce(c.found, 0)`,
);
const WRONG = {
  sqlite: `${WRONGLY_COUNTED.sqlite} LIMIT ${AT_ONCE}`,
  postgresql: `${WRONGLY_COUNTED.postgresql} LIMIT ${AT_ONCE}`,
};

/**
 * Organizations and routes that have limits but whose mark says that they have none: the limits would
 * not be enforced. Selects organization, route, expected mark, actual mark.
 */
export const UNMARKED = `
  SELECT b.org_id, NULL, '1', CAST(b.limited AS TEXT) FROM org_balance b
  WHERE b.limited <> 1 AND EXISTS (SELECT 1 FROM rate_limit l WHERE l.org_id = b.org_id)
  UNION ALL
  SELECT NULL, s.route, '1', CAST(s.limited AS TEXT) FROM route_state s
  WHERE s.limited <> 1 AND EXISTS (SELECT 1 FROM rate_limit l
    WHERE l.org_id = '' AND coalesce(l.requests_per_minute, l.tokens_per_minute, l.concurrent) IS NOT NULL)`;

/** Corrects wrong counts and returns how many there were. */
export async function mendRunning(on: Transactions): Promise<number> {
  const wrong = await on.read(function* () {
    return (yield* ask(WRONG)).map((row) => ({
      organizationId: textOf(row["org_id"]),
      keyId: textOf(row["key_id"]),
      model: textOf(row["model"]),
    }));
  });
  for (const place of wrong)
    await on.change({ organizationId: place.organizationId, by: MENDING }, function* (): Query<void> {
      const { organizationId, keyId, model } = place;
      yield* lockOrganization(organizationId);
      const running = yield* countRunning(place);
      yield* ask("UPDATE rate_limit SET running = ?4 WHERE org_id = ?1 AND key_id = ?2 AND model = ?3", [
        organizationId,
        keyId,
        model,
        running,
      ]);
    });
  return wrong.length;
}
