// Finds a request of any organization, for operators who only have an id.
import { sql as fragment } from "kysely";
import type { z } from "zod";
import type * as shapes from "../api/shapes/operator-requests.ts";
import { requestIdIn } from "../lib/id.ts";
import { from, rowsOf } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";
import { type ActivityPorts, activityPage } from "./activity.ts";
import { organizationNames } from "./organization-names.ts";

type Found = z.output<typeof shapes.operatorRequests>;

/** An Idempotency-Key may be used in several organizations; nobody reads more of them. */
const ORGANIZATIONS = 5;
const ROWS_OF_EACH = 20;

/** Rows of the activity page with their organization, newest first; only of `org` if given. */
export async function requestsFoundBy(on: ActivityPorts, text: string, org?: string): Promise<Found> {
  await on.flushRequestLog();
  const owners = (await ownersOf(on.sql, text)).filter((id) => org === undefined || id === org);
  const names = await organizationNames(on.sql, owners);
  const pages = await Promise.all(
    owners.map(async (id) => {
      const { data } = await activityPage(on, id, { find: text, limit: ROWS_OF_EACH });
      return data.map((row) => ({ ...row, org: { id, name: names.get(id) ?? id } }));
    }),
  );
  const data = pages.flat().toSorted((a, b) => (a.id < b.id ? 1 : -1));
  return { data, next_cursor: null, searched_to: null };
}

/** One seek for each organization, and one for each of its keys: never a scan of requests. */
async function ownersOf(sql: Sql, text: string): Promise<string[]> {
  const id = requestIdIn(text);
  const all = from.selectFrom("organization").select("org_id");
  const held = from
    .selectFrom("organization")
    .select("organization.org_id")
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom("request")
          .select(fragment.lit(1).as("one"))
          .whereRef("request.org_id", "=", "organization.org_id")
          .where("request.request_id", "=", id),
      ),
    )
    .limit(ORGANIZATIONS);
  const logged = from
    .selectFrom("journal")
    .select("org_id")
    .where("request_id", "=", id)
    .limit(ORGANIZATIONS);
  const refused = from
    .selectFrom("journal")
    .select("org_id")
    .distinct()
    .where("org_id", "in", all)
    .where("idempotency_key", "=", text)
    .limit(ORGANIZATIONS);
  const claimed = from
    .selectFrom("claim")
    .innerJoin("api_key", (join) =>
      join.onRef("api_key.org_id", "=", "claim.org_id").onRef("api_key.key_id", "=", "claim.key_id"),
    )
    .select("claim.org_id")
    .distinct()
    .where("claim.idem_key", "=", text)
    .limit(ORGANIZATIONS);
  const found = await Promise.all([held, logged, refused, claimed].map((query) => rowsOf(sql, query)));
  return [...new Set(found.flat().map(({ org_id }) => org_id))].slice(0, ORGANIZATIONS);
}
