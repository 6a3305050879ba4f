// Which row of the request log tells of a request that held nothing. Whoever may be refused without end must not write rows
// without end: so many have a row of their own, what comes beyond is counted in one row by minute, key and code.
import { DAY_MS, MINUTE_MS } from "../domain/durations.ts";
import { type RequestLogEntry, SEVERAL_KEYS } from "../domain/request-log.ts";
import { SEVERAL_SURFACES } from "../domain/surfaces.ts";

/** A row as it is written: of one request, or of several that are alike. */
export interface RequestLogRow {
  /** Of the first one; what differs among them is null, of different keys the key is `SEVERAL_KEYS`. */
  entry: RequestLogEntry;
  requests: number;
  /** Arrival of the last one. */
  lastAtMs: number;
  /** Whether it counts all that are alike in its minute. */
  counts: boolean;
}

/** Rows of their own: a minute of one key, a minute of one organization, its day, a minute of this gateway. */
const QUOTA = { key: 20, organization: 60, organizationDay: 2_000, gateway: 600 };
/** Sums of an organization and minute that are told apart by key, code and repeated request; then by code alone. */
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

  /** The row that tells of this entry from now on: a new one of its own, or one that has counted it. */
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

/** Of several: what all of them share, and the figures of the last one. */
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
