// Activity: every request of an organization, newest first, refusals and replays included; one of them with its story.
import { OperatorRefusal } from "../../contract/admin-refusals.ts";
import type { AppAnswer } from "../../contract/app.ts";
import { wordsOf } from "../../contract/refusal-words.ts";
import type { Desk } from "../../contract/desk.ts";
import type { Ledger, RequestRecord } from "../../ledger/ledger.ts";
import type { Clock } from "../../lib/clock.ts";
import { requests } from "../requests.ts";
import { hexOf, numberOf, orNull, type Sql, type SqlRow, textOf } from "../../store/sql.ts";
import { asksJournal, asksRequests, type Filter, ofJournal, ofRequests } from "./activity-filter.ts";
import {
  type ActivityRow,
  JOURNAL_COLUMNS,
  journalRow,
  REQUEST_COLUMNS,
  requestRow,
} from "./activity-rows.ts";
import { judgedAttempts } from "./attempts.ts";
import { arithmeticOf } from "./arithmetic.ts";
import type { Conditions } from "./conditions.ts";
import type { LabelBook } from "./labels.ts";
import { windowIfAsked } from "./windows.ts";

type Detail = AppAnswer<"GET /orgs/{org}/activity/{request}">;

export interface ActivityPorts {
  sql: Sql;
  clock: Clock;
  ledger: Pick<Ledger, "release" | "request">;
  labels: LabelBook;
  /** So that a reader sees the refusal that they just met. */
  flushJournal(): Promise<void>;
}

const PAGE = 50;
const REPLAYS_SHOWN = 50;
const COMPLETION = /^chatcmpl-([0-9a-f]{32})$/;

export const activity = (on: ActivityPorts): Pick<Desk, "activity" | "activityOf"> => ({
  async activity(organizationId, query) {
    await on.flushJournal();
    const limit = query.limit ?? PAGE;
    const { find } = query;
    const found =
      find === undefined ? null : { text: find, ids: await requestsNamed(on.sql, organizationId, find) };
    const filter = { organizationId, query, window: windowIfAsked(query, on.clock.nowMs()) };
    const asked = { filter, found, limit: limit + 1 };
    const held = asksRequests(query) ? await heldRows(on, asked) : [];
    const journal = asksJournal(query) ? await journalRows(on, asked) : [];
    const rows = await labelled(on, organizationId, { held, journal });
    const page = rows.slice(0, limit);
    return { data: page, next_cursor: rows.length > limit ? (page.at(-1)?.id ?? null) : null };
  },
  async activityOf(organizationId, requestId) {
    await on.flushJournal();
    const record = await on.ledger.request(requestId);
    if (record === null || record.organizationId !== organizationId)
      return await fromJournal(on, organizationId, requestId);
    const release = await on.ledger.release(record.releaseDigest);
    const request = await requests(on.ledger).show(requestId);
    const held = await on.sql.rows(
      `SELECT ${REQUEST_COLUMNS}, answer_until, claim_until FROM request WHERE org_id = ?1 AND request_id = ?2`,
      organizationId,
      requestId,
    );
    const [row] = await labelled(on, organizationId, { held, journal: [] });
    if (row === undefined || release === null)
      throw new Error(`request ${requestId} has a record but no row`);
    return {
      row,
      request,
      sentence: sentenceOf(row),
      advice: adviceOf(row),
      arithmetic: arithmeticOf(record, release),
      attempts: judgedAttempts(record),
      idempotency: {
        ...keyState(held[0] ?? {}, on.clock.nowMs()),
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
        issued_at: new Date(release.issuedAtMs).toISOString(),
        expires_at: new Date(release.expiresAtMs).toISOString(),
        digest: release.digest,
        tier: release.tier,
      },
      content: "not stored",
    };
  },
});

interface Asked {
  filter: Filter;
  /** What was searched for, and the ids under that name; null without a search. */
  found: { text: string; ids: string[] } | null;
  limit: number;
}

function heldRows({ sql }: ActivityPorts, { filter, found, limit }: Asked): Promise<SqlRow[]> {
  const conditions = ofRequests(sql, filter);
  if (found !== null)
    conditions.also(`request_id IN (${found.ids.map((id) => conditions.bind(id)).join(", ")})`);
  return newest(sql, "request", { columns: REQUEST_COLUMNS, conditions, limit });
}

function journalRows({ sql }: ActivityPorts, { filter, found, limit }: Asked): Promise<SqlRow[]> {
  const conditions = ofJournal(filter);
  if (found !== null) {
    const ids = found.ids.map((id) => conditions.bind(id)).join(", ");
    const key = conditions.bind(found.text);
    conditions.also(`(request_id IN (${ids}) OR replay_of IN (${ids}) OR idempotency_key = ${key})`);
  }
  return newest(sql, "journal", { columns: JOURNAL_COLUMNS, conditions, limit });
}

const newest = (
  sql: Sql,
  table: "request" | "journal",
  { columns, conditions, limit }: { columns: string; conditions: Conditions; limit: number },
): Promise<SqlRow[]> => {
  const end = `ORDER BY request_id DESC LIMIT ${conditions.bind(limit)}`;
  return sql.rows(`SELECT ${columns} FROM ${table} ${conditions.where} ${end}`, ...conditions.values);
};

/** A request's id, its completion's, or the Idempotency-Key that it was sent with: by index, whatever was asked for. */
async function requestsNamed(sql: Sql, organizationId: string, text: string): Promise<string[]> {
  const claims = await sql.rows(
    `SELECT request_id FROM claim WHERE org_id = ?1 AND idem_key = ?2
       AND key_id IN (SELECT key_id FROM api_key WHERE org_id = ?1)`,
    organizationId,
    text,
  );
  return [requestIdOf(text), ...claims.map((row) => textOf(row["request_id"]))];
}

/** A completion id is the request's, under another name. */
const requestIdOf = (text: string): string => text.replace(COMPLETION, "req_$1");

async function labelled(
  { labels }: ActivityPorts,
  organizationId: string,
  { held, journal }: { held: SqlRow[]; journal: SqlRow[] },
): Promise<ActivityRow[]> {
  const releases = await labels.releasesOf(held.map((row) => textOf(row["release_digest"])));
  const names = { keys: await labels.keysOf(organizationId), releases };
  return [
    ...held.map((row) => requestRow(row, names)),
    ...journal.map((row) => journalRow(row, names)),
  ].toSorted((a, b) => (a.id < b.id ? 1 : -1));
}

async function fromJournal(on: ActivityPorts, organizationId: string, requestId: string): Promise<Detail> {
  const journal = await on.sql.rows(
    `SELECT ${JOURNAL_COLUMNS} FROM journal WHERE org_id = ?1 AND request_id = ?2`,
    organizationId,
    requestId,
  );
  const [row] = await labelled(on, organizationId, { held: [], journal });
  if (row === undefined) throw new OperatorRefusal("not_found", "There is no record of this id.", "request");
  const nothing = { request: null, arithmetic: null, idempotency: null, route: null };
  const words = { sentence: sentenceOf(row), advice: adviceOf(row) };
  return { row, ...nothing, ...words, attempts: [], content: "not stored" };
}

async function replaysOf(
  { sql }: ActivityPorts,
  organizationId: string,
  requestId: string,
): Promise<NonNullable<Detail["idempotency"]>["replays"]> {
  const rows = await sql.rows(
    `SELECT request_id, at, waited_ms FROM journal WHERE replay_of = ?2 AND org_id = ?1 ORDER BY request_id LIMIT ?3`,
    organizationId,
    requestId,
    REPLAYS_SHOWN,
  );
  return rows.map((row) => ({
    id: textOf(row["request_id"]),
    at: new Date(numberOf(row["at"])).toISOString(),
    waited_ms: orNull(row["waited_ms"], numberOf),
  }));
}

/** The fingerprint of its claim, as long as that holds the key. */
async function contentHash(
  { sql }: ActivityPorts,
  { organizationId, keyId, idempotencyKey, requestId }: RequestRecord,
): Promise<string | null> {
  if (idempotencyKey === null) return null;
  const [claim] = await sql.rows(
    `SELECT fingerprint FROM claim WHERE org_id = ?1 AND key_id = ?2 AND idem_key = ?3 AND request_id = ?4`,
    organizationId,
    keyId,
    idempotencyKey,
    requestId,
  );
  return orNull(claim?.["fingerprint"], hexOf);
}

const SENTENCES: Partial<Record<ActivityRow["state"], string>> = {
  running: "The request runs; its credits are held.",
  released: "The request was not served; its hold went back whole.",
  outcome_unknown:
    "The gateway stopped while this request ran; its hold went back, and its outcome is not known.",
  refused: "The request was refused before anything was held.",
  replay: "The kept answer of an earlier request was sent again, at no charge.",
};

const sentenceOf = ({ state }: ActivityRow): string | null => SENTENCES[state] ?? null;

/** As plain text: the documents write code as code. */
function adviceOf({ code }: ActivityRow): Detail["advice"] {
  const words = wordsOf(code);
  if (words === null) return null;
  return { happened: words.happened.replaceAll("`", ""), next: words.next.replaceAll("`", "") };
}

/** What a repeat with the request's Idempotency-Key meets. */
function keyState(row: SqlRow, nowMs: number): Pick<NonNullable<Detail["idempotency"]>, "state" | "until"> {
  const [answer, claim] = [row["answer_until"], row["claim_until"]].map((until) => orNull(until, numberOf));
  const state = textOf(row["state"]);
  if (state !== "settled" && state !== "released") return { state: "in_progress", until: null };
  if (answer !== null && answer !== undefined && answer > nowMs)
    return { state: "answer_kept", until: new Date(answer).toISOString() };
  if (claim !== null && claim !== undefined && claim > nowMs)
    return { state: "key_taken", until: new Date(claim).toISOString() };
  return { state: "free", until: null };
}
