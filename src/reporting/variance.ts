// What requests of all organizations cost beyond their holds, which the platform pays. No roll-up knows it, so the requests
// themselves are read, in pieces across organizations: the table is in their order, and a span of time is one range in
// each (docs/decisions/0098-reads-in-pieces.md).
import { type RawBuilder, sql as fragment } from "kysely";
import { exact } from "../store/exact-sum.ts";
import { exactTotal, from, rowsOf } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";
import type { Tables } from "../store/tables.ts";
import { PIECE_ROWS } from "./request-pieces.ts";
import { sinceRequest } from "./request-time.ts";

/** The request after which a piece begins, and the start of every other organization's range. */
interface Place {
  org: string;
  after: string;
  since: string;
}

interface Summed {
  org_id: string;
  /** Null for all that cost no more than they held: they are not told apart, and so need no sorting. */
  release: string | null;
  /** The number of the piece's requests, and the last id of this organization. */
  walked: bigint;
  last: string;
  amount: string | null;
}

/** Sums in nano-USD of the requests since then, by the digest of the release that served. */
export async function varianceByRelease(sql: Sql, sinceMs: number): Promise<Map<string, bigint>> {
  const since = sinceRequest(sinceMs);
  const sums = new Map<string, bigint>();
  let place: Place | null = { org: "", after: since, since };
  while (place !== null) {
    const rows: Summed[] = await rowsOf(sql, sumsOf(sql, place));
    for (const { release, amount } of rows)
      if (release !== null) sums.set(release, (sums.get(release) ?? 0n) + exact(amount));
    const last: Summed | undefined = rows.at(-1);
    place =
      last === undefined || last.walked < PIECE_ROWS ? null : { org: last.org_id, after: last.last, since };
  }
  return sums;
}

/** By organization and release; the last rows are those of the last organization. */
const sumsOf = (sql: Sql, place: Place) =>
  from
    .selectFrom(pieceAfter(sql, place).as("request"))
    .groupBy(["org_id", "release"])
    .select((eb) => [
      "org_id",
      "release",
      fragment<bigint>`CAST(sum(count(*)) OVER () AS BIGINT)`.as("walked"),
      fragment<string>`max(max(request_id)) OVER (PARTITION BY org_id)`.as("last"),
      exactTotal(eb.ref("variance")).as("amount"),
    ])
    .orderBy("org_id");

type Read = Pick<Tables["request"], "org_id" | "request_id" | "variance"> & Pick<Summed, "release">;

/** In the order of organizations and ids. PostgreSQL sorts, so it must not take more of each than a piece. */
function pieceAfter(sql: Sql, { org, after, since }: Place): RawBuilder<Read> {
  const limit = fragment.lit(PIECE_ROWS);
  const own = fragment`request.org_id = organization.org_id
    AND request.request_id > CASE WHEN organization.org_id = ${org} THEN CAST(${after} AS TEXT) ELSE ${since} END`;
  const ordered = fragment`ORDER BY organization.org_id, request.request_id LIMIT ${limit}`;
  const read = fragment`request.org_id, request.request_id, request.variance,
    CASE WHEN request.variance > 0 THEN request.release_digest END AS release`;
  return sql.dialect === "sqlite"
    ? fragment`(SELECT ${read} FROM organization CROSS JOIN request
        WHERE organization.org_id >= ${org} AND ${own} ${ordered})`
    : fragment`(SELECT ${read} FROM organization
        CROSS JOIN LATERAL (SELECT * FROM request WHERE ${own} ORDER BY request.request_id LIMIT ${limit}) AS request
        WHERE organization.org_id >= ${org} ${ordered})`;
}
