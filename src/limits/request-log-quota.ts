// Chooses the row of the request log for a request that held nothing. A caller that is refused without end must not write rows
// without end: a limited number of requests get rows of their own, the rest are counted in one row by minute, key and code.
import { DAY_MS, MINUTE_MS } from "../domain/durations.ts";
import { type RequestLogEntry, SEVERAL_KEYS } from "../domain/request-log.ts";
import { SEVERAL_SURFACES } from "../domain/surfaces.ts";

/** A row as it is written: for one request, or for several similar ones. */
export interface RequestLogRow {
  /** The first request's entry. Members that differ are null; the key of different keys is `SEVERAL_KEYS`. */
  entry: RequestLogEntry;
  requests: number;
  /** Arrival of the last request. */
  lastAtMs: number;
  /** Whether the row counts all similar requests of its minute. */
  counts: boolean;
}

/** Individual rows allowed: a minute of one key, a minute of one organization, its day, a minute of this gateway. */
const QUOTA = { key: 20, organization: 60, organizationDay: 2_000, gateway: 600 };
/** Summary rows of an organization and minute that are split by key, code and repeated request; beyond that by code alone. */
const SUMS_TOLD_APART = 20;

interface OfOrganization {
  rows: number;
  ofKey: Map<string, number>;
  sums: Map<string, RequestLogRow>;
}

export class RequestLogQuota {
  private minute = 0;
  private day = 0;
  private rows = 0;
  private ofMinute = new Map<string, OfOrganization>();
  private ofDay = new Map<string, number>();

  /** Returns the row that records this entry: a new one of its own, or a summary row that now counts it. */
  rowOf(entry: RequestLogEntry, nowMs: number): RequestLogRow {
    this.turn(nowMs);
    const { organizationId, keyId } = entry;
    const organization = this.ofMinute.get(organizationId) ?? { rows: 0, ofKey: new Map(), sums: new Map() };
    this.ofMinute.set(organizationId, organization);
    const ofKey = organization.ofKey.get(keyId) ?? 0;
    const ofDay = this.ofDay.get(organizationId) ?? 0;
    const own =
      ofKey < QUOTA.key &&
      organization.rows < QUOTA.organization &&
      ofDay < QUOTA.organizationDay &&
      this.rows < QUOTA.gateway;
    if (!own) return counted(organization.sums, entry);
    this.rows += 1;
    organization.rows += 1;
    organization.ofKey.set(keyId, ofKey + 1);
    this.ofDay.set(organizationId, ofDay + 1);
    return rowOfOne(entry);
  }

  private turn(nowMs: number): void {
    const [minute, day] = [Math.floor(nowMs / MINUTE_MS), Math.floor(nowMs / DAY_MS)];
    if (minute !== this.minute) {
      this.ofMinute = new Map();
      this.rows = 0;
    }
    if (day !== this.day) this.ofDay = new Map();
    this.minute = minute;
    this.day = day;
  }
}

const rowOfOne = (entry: RequestLogEntry): RequestLogRow => ({
  entry,
  requests: 1,
  lastAtMs: entry.atMs,
  counts: false,
});

function counted(sums: OfOrganization["sums"], entry: RequestLogEntry): RequestLogRow {
  const { keyId, kind, status, code, replayOf } = entry;
  const alike = [kind, status, code];
  const told = JSON.stringify([...alike, keyId, replayOf]);
  const id = sums.has(told) || sums.size < SUMS_TOLD_APART ? told : JSON.stringify(alike);
  const row = sums.get(id);
  if (row === undefined) {
    const first = { ...rowOfOne(entry), counts: true };
    sums.set(id, first);
    return first;
  }
  row.requests += 1;
  row.lastAtMs = Math.max(row.lastAtMs, entry.atMs);
  row.entry = joined(row.entry, entry);
  return row;
}

/** Merges two entries: what they share, with the figures of the last one. */
const joined = (first: RequestLogEntry, last: RequestLogEntry): RequestLogEntry => ({
  ...first,
  keyId: first.keyId === last.keyId ? first.keyId : SEVERAL_KEYS,
  surface: first.surface === last.surface ? first.surface : SEVERAL_SURFACES,
  asked: {
    model: first.asked.model === last.asked.model ? first.asked.model : null,
    stream: first.asked.stream && last.asked.stream,
    bounds: sameBounds(first.asked.bounds, last.asked.bounds) ? first.asked.bounds : null,
  },
  details: last.details,
  replayOf: first.replayOf === last.replayOf ? first.replayOf : null,
  idempotencyKey: first.idempotencyKey === last.idempotencyKey ? first.idempotencyKey : null,
  waitedMs: null,
});

type Bounds = RequestLogEntry["asked"]["bounds"];

const sameBounds = (a: Bounds, b: Bounds): boolean =>
  a === b ||
  (a !== null &&
    b !== null &&
    a.promptTokens === b.promptTokens &&
    a.counted === b.counted &&
    a.outputTokens === b.outputTokens &&
    a.hold === b.hold);
