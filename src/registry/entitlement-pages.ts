// Entitlements in pages, of one organization or of all. Each page is read through an index on its order; a place
// is that of a row, so a damaged time ends no list.
import type { Reader } from "../ledger/ledger.ts";
import { ask, hasPart, orNull, likePatterns, type Query, type SqlValue, textOf } from "../store/sql.ts";
import { type EntitlementRecord, entitlementIn, SELECT_ENTITLEMENT } from "./entitlements.ts";
import { makerOf, personBehind } from "./persons.ts";

/**
 * `revoked` includes requests that were declined or withdrawn; `ended` leaves them out.
 */
type EntitlementFilter = "requested" | "active" | "expired" | "revoked" | "ended" | "declined" | "withdrawn";

interface Filters {
  /** Undefined: of all organizations. */
  organizationId?: string | undefined;
  state?: EntitlementFilter | undefined;
  /** A part of the model or the project, an id, or one of the actors who requested it. Empty: all. */
  search?: { text: string; actors: readonly string[] } | undefined;
}

interface Asked extends Filters {
  /** The id of the last row of the page before; null for the first page. */
  after: string | null;
  most: number;
}

/** The orders of lists; the last three together are the order of urgency. */
type Order = "oldest" | "newest" | "requested" | "active" | "over";

/** By the time of the request. */
export const entitlementsInOrder = (
  on: Reader,
  order: "oldest" | "newest",
  asked: Asked,
): Promise<EntitlementRecord[]> => on.read((nowMs) => part(order, asked, { nowMs, asOfMs: nowMs }));

const URGENCY = ["requested", "active", "over"] as const;
/** Where a page begins: behind the row `after` of its part; `asOfMs`: when the first page was read. */
export interface UrgentPlace {
  asOfMs: number;
  part: (typeof URGENCY)[number];
  after: string | null;
}

/**
 * Undecided requests, the oldest first; then active ones, by their expiry; then the rest, the newest request
 * first. What expires while somebody reads stays where it was when they began.
 */
export const entitlementsByUrgency = (
  on: Reader,
  from: UrgentPlace | null,
  asked: Omit<Asked, "after">,
): Promise<{ place: UrgentPlace; record: EntitlementRecord }[]> =>
  on.read(function* (nowMs) {
    const { asOfMs, ...start } = from ?? { asOfMs: nowMs, part: URGENCY[0], after: null };
    const found: { place: UrgentPlace; record: EntitlementRecord }[] = [];
    for (const order of URGENCY.slice(URGENCY.indexOf(start.part))) {
      const after = order === start.part ? start.after : null;
      const most = asked.most - found.length;
      if (most > 0)
        for (const record of yield* part(order, { ...asked, after, most }, { nowMs, asOfMs }))
          found.push({ place: { asOfMs, part: order, after: record.id }, record });
    }
    return found;
  });

/** Whether there is such an entitlement, of this organization if one is given: only then a page can begin behind it. */
export const isListed = (
  on: Reader,
  { id, organizationId }: { id: string; organizationId: string | undefined },
): Promise<boolean> =>
  on.read(function* () {
    const [row] = yield* ask("SELECT org_id FROM entitlement WHERE id = ?1", [id]);
    return row !== undefined && (organizationId === undefined || row["org_id"] === organizationId);
  });

/** Whoever requested one of these entitlements, and the person behind each (`persons.ts`). */
export const requestersOf = (
  on: Reader,
  organizationId: string | undefined,
): Promise<{ actor: string; person: string }[]> =>
  on.read(function* () {
    const [where, values] = organizationId === undefined ? ["", []] : ["WHERE org_id = ?1", [organizationId]];
    const rows = yield* ask(
      `SELECT requested_by, ${makerOf("requested_by")} AS maker
       FROM (SELECT DISTINCT requested_by FROM entitlement ${where}) AS asked`,
      values,
    );
    return rows.map((row) => {
      const actor = textOf(row["requested_by"]);
      return { actor, person: personBehind(actor, orNull(row["maker"], textOf)) };
    });
  });

interface Times {
  nowMs: number;
  asOfMs: number;
}

/** The columns of an order, and its direction. */
const ORDERS: Record<Order, { by: "created_at" | "expires_at"; down: boolean }> = {
  oldest: { by: "created_at", down: false },
  newest: { by: "created_at", down: true },
  requested: { by: "created_at", down: false },
  active: { by: "expires_at", down: false },
  over: { by: "created_at", down: true },
};

function* part(
  order: Order,
  { organizationId, state, search, after, most }: Asked,
  { nowMs, asOfMs }: Times,
): Query<EntitlementRecord[]> {
  const { by, down } = ORDERS[order];
  const values: SqlValue[] = [];
  const put = (value: SqlValue): string => `?${values.push(value)}`;
  const where = [
    ...(organizationId === undefined ? [] : [`org_id = ${put(organizationId)}`]),
    ...partOfOrder(order, asOfMs, put),
    ...(state === undefined ? [] : [STATES[state](nowMs, put)]),
    ...(search === undefined || search.text === "" ? [] : [isLike(search, put)]),
    ...(after === null
      ? []
      : [
          `(${by}, id) ${down ? "<" : ">"} (SELECT last.${by}, last.id FROM entitlement last WHERE last.id = ${put(after)})`,
        ]),
  ];
  const way = down ? "DESC" : "ASC";
  const rows = yield* ask(
    `${SELECT_ENTITLEMENT} ${where.length === 0 ? "" : `WHERE ${where.join(" AND ")}`}
     ORDER BY ${by} ${way}, id ${way} LIMIT ${most}`,
    values,
  );
  return rows.map((row) => entitlementIn(row, nowMs));
}

type Put = (value: SqlValue) => string;

/** States are literals, because the indexes of these rows are partial. */
function partOfOrder(order: Order, asOfMs: number, put: Put): string[] {
  switch (order) {
    case "requested":
      return ["state = 'requested'"];
    case "active":
      return [`state = 'active' AND expires_at > ${put(asOfMs)}`];
    case "over":
      // Also what is in no known state, because its row is damaged.
      return [
        `state <> 'requested' AND (state <> 'active' OR expires_at IS NULL OR expires_at <= ${put(asOfMs)})`,
      ];
    case "oldest":
    case "newest":
      return [];
  }
}

const ANSWERED = "SELECT 1 FROM entitlement_note n WHERE n.entitlement_id = entitlement.id AND n.outcome";
const STATES: Record<EntitlementFilter, (nowMs: number, put: Put) => string> = {
  requested: () => "state = 'requested'",
  active: (nowMs, put) => `state = 'active' AND (expires_at IS NULL OR expires_at > ${put(nowMs)})`,
  expired: (nowMs, put) => `state = 'active' AND expires_at <= ${put(nowMs)}`,
  revoked: () => "state = 'revoked'",
  ended: () => `state = 'revoked' AND NOT EXISTS (${ANSWERED} IS NOT NULL)`,
  declined: () => `state = 'revoked' AND EXISTS (${ANSWERED} = 'declined')`,
  withdrawn: () => `state = 'revoked' AND EXISTS (${ANSWERED} = 'withdrawn')`,
};

function isLike({ text, actors }: NonNullable<Filters["search"]>, put: Put): string {
  const requesters = actors.length === 0 ? [] : [`requested_by IN (${actors.map(put).join(", ")})`];
  const named = hasPart(["model", "project"], likePatterns(text).map(put));
  return `(${[named, `id = ${put(text)}`, ...requesters].join(" OR ")})`;
}
