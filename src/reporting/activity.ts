// Activity: every request of an organization, newest first, including refusals and replays; and a single
// request in detail.
import { PAGE_ROWS } from "../domain/page-rows.ts";
import { requestIdIn } from "../lib/id.ts";
import { readRelease } from "../registry/releases.ts";
import { readRequest } from "../registry/requests.ts";
import { missingRelease } from "../ledger/unreadable.ts";
import { notFound } from "../domain/unknown-record.ts";
import type * as activityShapes from "../api/shapes/activity.ts";
import type { ActivityState } from "../domain/activity-states.ts";
import type { z } from "zod";
import { plainWordsOf } from "../domain/refusal-words.ts";
import type { Reader } from "../ledger/ledger.ts";
import type { RequestRecord } from "../ledger/records.ts";
import type { Clock } from "../lib/clock.ts";
import { requestOf } from "./requests.ts";
import { printTime, printTimeOrNull } from "../domain/print.ts";
import { from, numberOrNull, rowOf, rowsOf } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";
import {
  type ActivityQuery,
  asksRequestLog,
  asksRequests,
  type Filter,
  newestOfRequestLog,
  newestRequests,
} from "./activity-filter.ts";
import {
  type ActivityRow,
  type HeldRow,
  type LoggedRow,
  newestOfBoth,
  REQUEST_COLUMNS,
  requestLogRow,
  requestRow,
} from "./activity-rows.ts";
import { LOOKED_AT, reachOf } from "./activity-reach.ts";
import { forMembers, judgedAttempts } from "./attempts.ts";
import { arithmeticOf } from "./arithmetic.ts";
import type { LabelBook } from "./labels.ts";
import { refusalStory } from "./refusal-story.ts";
import { timeOfRequest } from "./request-time.ts";
import { windowIfAsked } from "./windows.ts";

type Detail = z.output<typeof activityShapes.activityDetail>;

export interface ActivityPorts {
  sql: Sql;
  clock: Clock;
  ledger: Reader;
  labels: LabelBook;
  /** So that readers see a refusal that they have just received. */
  flushRequestLog(): Promise<void>;
}

const REPLAYS_SHOWN = 50;

/**
 * One page, newest first, from the ledger and the request log. If a filter finds little, it may not be full although more
 * may follow: `searched_to` says how far back it looked.
 */
export async function activityPage(
  on: ActivityPorts,
  organizationId: string,
  query: ActivityQuery,
  lookedAt = LOOKED_AT,
): Promise<z.output<typeof activityShapes.activityList>> {
  await on.flushRequestLog();
  const limit = query.limit ?? PAGE_ROWS;
  const { find } = query;
  const found =
    find === undefined ? null : { text: find, ids: await requestsNamed(on.sql, organizationId, find) };
  const unbounded = { organizationId, query, window: windowIfAsked(query, on.clock.nowMs()) };
  const reach = found === null ? await reachOf(on.sql, unbounded, lookedAt) : null;
  const asked = { filter: { ...unbounded, reach }, found, limit: limit + 1 };
  const held = asksRequests(query) ? await heldRows(on, asked) : [];
  const logged = asksRequestLog(query) ? await loggedRows(on, asked) : [];
  const rows = await labelled(on, organizationId, newestOfBoth({ held, logged }, limit + 1));
  const data = rows.slice(0, limit);
  if (rows.length > limit) return { data, next_cursor: data.at(-1)?.id ?? null, searched_to: null };
  const searched_to = reach === null ? null : printTime(timeOfRequest(reach));
  return { data, next_cursor: reach, searched_to };
}

/**
 * One request in detail. `platform`: includes what only operators may read. Throws `OperatorRefusal` if this
 * organization has no such request.
 */
export async function activityOf(
  on: ActivityPorts,
  organizationId: string,
  { requestId, platform }: { requestId: string; platform: boolean },
): Promise<Detail> {
  await on.flushRequestLog();
  const record = await readRequest(on.ledger, requestId);
  if (record === null || record.organizationId !== organizationId)
    return await fromRequestLog(on, organizationId, requestId);
  const release = await readRelease(on.ledger, record.releaseDigest);
  const shown = await requestOf(on, record);
  const request = platform ? shown : { ...shown, attempts: shown.attempts.map(forMembers) };
  const held = await rowsOf(
    on.sql,
    from
      .selectFrom("request")
      .select(REQUEST_COLUMNS)
      .where("org_id", "=", organizationId)
      .where("request_id", "=", requestId),
  );
  const [stored] = held;
  const [row] = await labelled(on, organizationId, { held, logged: [] });
  if (release === null) throw missingRelease(requestId);
  if (row === undefined || stored === undefined)
    throw new Error(`request ${requestId} has a record but no row`);
  const key = keyState(stored, on.clock.nowMs());
  return {
    row,
    request,
    sentence: sentenceOf(row),
    advice: plainWordsOf(row.code),
    arithmetic: arithmeticOf(record, release),
    attempts: judgedAttempts(record),
    idempotency: {
      ...key,
      key: request.gateway.idempotency.key,
      caller_supplied: request.gateway.idempotency.caller_supplied,
      replays: await replaysOf(on, organizationId, requestId),
      content_hash: await contentHash(on, record),
    },
    route: {
      route: release.route,
      provider: release.provider,
      region: release.region,
      release_version: release.version,
      signed_by: release.signedBy,
      issued_at: printTime(release.issuedAtMs),
      expires_at: printTime(release.expiresAtMs),
      digest: release.digest,
      tier: release.tier,
    },
    refusal: null,
    content: record.idempotencyKey !== null && answerIsKept(key.state, row) ? "answer kept" : "not stored",
  };
}

/** For a running stream, what was sent so far. */
const answerIsKept = (state: string, { stream }: ActivityRow): boolean =>
  state === "answer_kept" || (state === "in_progress" && stream);

interface Asked {
  filter: Filter;
  /** The search text and the ids that match it; null without a search. */
  found: { text: string; ids: string[] } | null;
  limit: number;
}

const heldRows = ({ sql }: ActivityPorts, { filter, found, limit }: Asked): Promise<HeldRow[]> =>
  rowsOf(
    sql,
    newestRequests(sql, filter, limit).$if(found !== null, (query) =>
      query.where("request_id", "in", found?.ids ?? []),
    ),
  );

const loggedRows = ({ sql }: ActivityPorts, { filter, found, limit }: Asked): Promise<LoggedRow[]> =>
  rowsOf(
    sql,
    newestOfRequestLog(filter, limit).$if(found !== null, (query) =>
      query.where((eb) =>
        eb.or([
          eb("request_id", "in", found?.ids ?? []),
          eb("replay_of", "in", found?.ids ?? []),
          eb("idempotency_key", "=", found?.text ?? ""),
        ]),
      ),
    ),
  );

/** Finds requests by request id, answer id, or Idempotency-Key, always through an index. */
async function requestsNamed(sql: Sql, organizationId: string, text: string): Promise<string[]> {
  const keys = from.selectFrom("api_key").select("key_id").where("org_id", "=", organizationId);
  const claims = from
    .selectFrom("claim")
    .select("request_id")
    .where("org_id", "=", organizationId)
    .where("idem_key", "=", text)
    .where("key_id", "in", keys);
  return [requestIdIn(text), ...(await rowsOf(sql, claims)).map((row) => row.request_id)];
}

/** Rows for display, newest first, with the names of their keys and releases. */
export async function labelled(
  { labels }: Pick<ActivityPorts, "labels">,
  organizationId: string,
  { held, logged }: { held: HeldRow[]; logged: LoggedRow[] },
): Promise<ActivityRow[]> {
  const releases = await labels.releasesOf(held.map((row) => row.release_digest));
  const ids = [...held, ...logged].map((row) => row.key_id);
  const names = { keys: await labels.keysOf(organizationId, ids), releases };
  return [
    ...held.map((row) => requestRow(row, names)),
    ...logged.map((row) => requestLogRow(row, names)),
  ].toSorted((a, b) => (a.id < b.id ? 1 : -1));
}

async function fromRequestLog(on: ActivityPorts, organizationId: string, requestId: string): Promise<Detail> {
  const logged = await rowsOf(
    on.sql,
    from
      .selectFrom("journal")
      .selectAll()
      .where("org_id", "=", organizationId)
      .where("request_id", "=", requestId),
  );
  const [row] = await labelled(on, organizationId, { held: [], logged });
  const [stored] = logged;
  if (row === undefined || stored === undefined) throw notFound("request");
  const nothing = { request: null, arithmetic: null, idempotency: null, route: null };
  const words = { sentence: sentenceOf(row), advice: plainWordsOf(row.code) };
  const refusal = await refusalStory(on, stored, row);
  return { row, ...nothing, ...words, attempts: [], refusal, content: "not stored" };
}

async function replaysOf(
  { sql }: ActivityPorts,
  organizationId: string,
  requestId: string,
): Promise<NonNullable<Detail["idempotency"]>["replays"]> {
  const query = from
    .selectFrom("journal")
    .select(["request_id", "at", "waited_ms"])
    .where("replay_of", "=", requestId)
    .where("org_id", "=", organizationId)
    .orderBy("request_id")
    .limit(REPLAYS_SHOWN);
  return (await rowsOf(sql, query)).map((row) => ({
    id: row.request_id,
    at: printTime(row.at),
    waited_ms: numberOrNull(row.waited_ms),
  }));
}

/** The fingerprint of its claim, as long as the claim holds the idempotency key. */
async function contentHash(
  { sql }: ActivityPorts,
  { organizationId, keyId, idempotencyKey, requestId }: RequestRecord,
): Promise<string | null> {
  if (idempotencyKey === null) return null;
  const query = from
    .selectFrom("claim")
    .select("fingerprint")
    .where("org_id", "=", organizationId)
    .where("key_id", "=", keyId)
    .where("idem_key", "=", idempotencyKey)
    .where("request_id", "=", requestId);
  const claim = await rowOf(sql, query);
  return claim === undefined ? null : Buffer.from(claim.fingerprint).toString("hex");
}

const SENTENCES: Partial<Record<ActivityState, string>> = {
  running: "The request is running; its credits are held.",
  cut_short:
    "The answer was cut short; only what is below was charged, and the rest of the hold was returned.",
  released: "The request was not served; its whole hold was returned.",
  outcome_unknown:
    "The gateway stopped while this request was running; its hold was returned, and its outcome is not known.",
  refused: "The request was rejected before anything was held.",
  replay: "The stored answer of an earlier request was sent again, at no charge.",
};

const sentenceOf = ({ state }: ActivityRow): string | null => SENTENCES[state] ?? null;

/** What a repeat with the request's Idempotency-Key would get. */
function keyState(
  { state, answer_until: answer, claim_until: claim }: HeldRow,
  nowMs: number,
): Pick<NonNullable<Detail["idempotency"]>, "state" | "until"> {
  if (state !== "settled" && state !== "released") return { state: "in_progress", until: null };
  if (answer !== null && answer > nowMs) return { state: "answer_kept", until: printTimeOrNull(answer) };
  if (claim !== null && claim > nowMs) return { state: "key_taken", until: printTimeOrNull(claim) };
  return { state: "free", until: null };
}
