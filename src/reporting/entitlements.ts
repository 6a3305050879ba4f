// Entitlements for display: who requested what and why, who decided, the spend under them.
import type * as catalogueShapes from "../api/shapes/catalogue.ts";
import type { EntitlementJson } from "../api/shapes/records.ts";
import type { z } from "zod";
import { formatUsd, ZERO_USD } from "../domain/money.ts";
import { PAGE_ROWS } from "../domain/page-rows.ts";
import { notFound } from "../domain/unknown-record.ts";
import { printTime, printTimeOrNull } from "../domain/print.ts";
import type { Reader } from "../ledger/ledger.ts";
import {
  entitlementsByUrgency,
  entitlementsInOrder,
  isListed,
  requestersOf,
  type UrgentPlace,
} from "../registry/entitlement-pages.ts";
import { type EntitlementRecord, findEntitlement } from "../registry/entitlements.ts";
import type { People } from "../people/people.ts";
import type { ListedRoute } from "../releases/standing.ts";
import { from, rowsOf } from "../store/query.ts";
import { inHundreds, type Sql } from "../store/sql.ts";
import type { Tables } from "../store/tables.ts";
import { readCursor, rowCursor } from "./cursors.ts";
import { spendsOf } from "./entitlement-spend.ts";

type Page = z.output<typeof catalogueShapes.entitlementList>;
type Entitlement = Page["data"][number];

export interface EntitlementPorts {
  sql: Sql;
  ledger: Reader;
  people: Pick<People, "persons">;
  listedRoutes(): ListedRoute[];
}

type Ask = z.output<typeof catalogueShapes.ownEntitlementsQuery>;

/** An organization's entitlements, the newest request first. Throws `Refusal` for a cursor that no page returned. */
export async function entitlementsPage(
  on: EntitlementPorts,
  organizationId: string,
  { cursor, limit = PAGE_ROWS, ...asked }: Ask,
): Promise<Page> {
  const records = await entitlementsInOrder(on.ledger, "newest", {
    ...(await filtersOf(on, organizationId, asked)),
    after: await rowCursor(cursor, (id) => isListed(on.ledger, { id, organizationId })),
    most: limit + 1,
  });
  const data = await printed(on, records.slice(0, limit));
  return { data, next_cursor: records.length > limit ? (data.at(-1)?.id ?? null) : null };
}

/**
 * Entitlements of all organizations or of one: undecided requests, the oldest first; active ones by their
 * expiry; then the rest, newest first. Throws `Refusal` for a cursor that no page returned.
 */
export async function entitlementsToDecide(
  on: EntitlementPorts,
  { org, cursor, limit = PAGE_ROWS, ...asked }: Ask & { org?: string | undefined },
): Promise<Page> {
  const place = cursor === undefined ? null : await placeIn(on.ledger, cursor, org);
  const found = await entitlementsByUrgency(on.ledger, place, {
    ...(await filtersOf(on, org, asked)),
    most: limit + 1,
  });
  const shown = found.slice(0, limit);
  const data = await printed(
    on,
    shown.map(({ record }) => record),
  );
  const last = shown.at(-1)?.place;
  const next = last === undefined ? null : `${last.asOfMs}.${last.part}.${last.after}`;
  return { data, next_cursor: found.length > limit ? next : null };
}

const PLACE = /^(\d{1,15})\.(requested|active|over)\.(.+)$/s;

async function placeIn(ledger: Reader, cursor: string, organizationId?: string): Promise<UrgentPlace> {
  const [, asOf = "", part = "", last = ""] = readCursor(cursor, PLACE);
  const after = await rowCursor(last, (id) => isListed(ledger, { id, organizationId }));
  return { asOfMs: Number(asOf), part: part as UrgentPlace["part"], after };
}

/** In the registry, a revoked one includes those that were declined or withdrawn. */
async function filtersOf(
  on: EntitlementPorts,
  organizationId: string | undefined,
  { state, search = "" }: Pick<Ask, "search" | "state">,
) {
  return {
    organizationId,
    state: state === "revoked" ? ("ended" as const) : state,
    search: { text: search, actors: search === "" ? [] : await requestersNamed(on, organizationId, search) },
  };
}

/** A statement takes no more values. */
const REQUESTERS_SEARCHED = 10_000;

/**
 * The actors of the requests that show a requester with this part of a name, or this id. Only what a row shows is
 * searched: whoever may not see an address cannot find out about it here.
 */
async function requestersNamed(
  { ledger, people }: EntitlementPorts,
  organizationId: string | undefined,
  search: string,
): Promise<string[]> {
  const requesters = await requestersOf(ledger, organizationId);
  const persons = await people.persons([...new Set(requesters.map(({ person }) => person))]);
  const names = new Map(persons.map(({ id, name }) => [id, name.toLowerCase()]));
  const wanted = search.toLowerCase();
  return requesters
    .filter(({ person }) => person === search || names.get(person)?.includes(wanted))
    .map(({ actor }) => actor)
    .slice(0, REQUESTERS_SEARCHED);
}

/** Throws `OperatorRefusal` if there is none with this id. */
export async function entitlementOf(on: EntitlementPorts, id: string): Promise<Entitlement> {
  const [row] = await printed(on, [await recordOf(on, id)]);
  if (row === undefined) throw notFound("entitlement");
  return row;
}

/** The stored entitlement. Throws `OperatorRefusal` if there is none with this id. */
export async function recordOf(
  { ledger }: Pick<EntitlementPorts, "ledger">,
  id: string,
): Promise<EntitlementRecord> {
  const record = await findEntitlement(ledger, id);
  if (record === null) throw notFound("entitlement");
  return record;
}

/** As shown to management keys, without additional lookups. */
export const printEntitlement = (record: EntitlementRecord): EntitlementJson => ({
  id: record.id,
  org: record.organizationId,
  model: record.model,
  project: record.project,
  status: record.status,
  requested_by: record.requestedBy,
  approved_by: record.approvedBy,
  created_at: printTime(record.createdAtMs),
  expires_at: printTimeOrNull(record.expiresAtMs),
});

async function printed(on: EntitlementPorts, records: readonly EntitlementRecord[]): Promise<Entitlement[]> {
  const notes = await notesOf(on.sql, records);
  const ids = records.flatMap(({ id, requester, approvedBy }) => [
    requester,
    approvedBy ?? notes.get(id)?.decided_by ?? "",
  ]);
  const names = new Map((await on.people.persons([...new Set(ids)])).map(({ id, name }) => [id, name]));
  const listed = on.listedRoutes();
  const spends = await spendsOf(
    on.sql,
    records.map(({ id }) => id),
  );
  return records.map((record) => {
    const note = notes.get(record.id);
    const decider = record.approvedBy ?? note?.decided_by ?? null;
    return {
      ...printEntitlement(record),
      asked_by: { id: record.requester, name: names.get(record.requester) ?? null },
      decided_by: decider === null ? null : { id: decider, name: names.get(decider) ?? null },
      purpose: note === undefined || note.purpose === "" ? null : note.purpose,
      wanted_until: printTimeOrNull(note?.wanted_until ?? null),
      note: note?.note ?? null,
      state: record.status === "revoked" ? (note?.outcome ?? "revoked") : record.status,
      spend_usd: formatUsd(spends.get(record.id) ?? ZERO_USD),
      routes: listed
        .filter(({ names: of }) => of?.model === record.model)
        .map(({ route, state, reason }) => ({ route, state, reason })),
    };
  });
}

async function notesOf(
  sql: Sql,
  records: readonly EntitlementRecord[],
): Promise<Map<string, Tables["entitlement_note"]>> {
  const notes = new Map<string, Tables["entitlement_note"]>();
  for (const ids of inHundreds(records.map(({ id }) => id))) {
    const query = from.selectFrom("entitlement_note").selectAll().where("entitlement_id", "in", ids);
    for (const note of await rowsOf(sql, query)) notes.set(note.entitlement_id, note);
  }
  return notes;
}
