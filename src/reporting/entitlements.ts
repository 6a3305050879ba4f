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
  type UrgentPlace,
} from "../registry/entitlement-pages.ts";
import { type EntitlementRecord, findEntitlement } from "../registry/entitlements.ts";
import type { People } from "../people/people.ts";
import type { ListedRoute } from "../releases/standing.ts";
import { from, rowsOf } from "../store/query.ts";
import { inHundreds, type Sql } from "../store/sql.ts";
import type { Tables } from "../store/tables.ts";
import { entitlementCursor, readCursor } from "./cursors.ts";
import { spendsOf } from "./entitlement-spend.ts";

type Page = z.output<typeof catalogueShapes.entitlementList>;
type Entitlement = Page["data"][number];

export interface EntitlementPorts {
  sql: Sql;
  ledger: Reader;
  people: Pick<People, "persons">;
  listedRoutes(): ListedRoute[];
}

interface EntitlementListPorts extends EntitlementPorts {
  people: Pick<People, "accountsAfter" | "persons">;
}

type Ask = z.output<typeof catalogueShapes.ownEntitlementsQuery>;

/** An organization's entitlements, the newest request first. Throws `Refusal` for a cursor that no page returned. */
export async function entitlementsPage(
  on: EntitlementListPorts,
  organizationId: string,
  { cursor, limit = PAGE_ROWS, ...asked }: Ask,
): Promise<Page> {
  const records = await entitlementsInOrder(on.ledger, "newest", {
    ...(await filtersOf(on, asked)),
    organizationId,
    after: entitlementCursor(cursor) ?? null,
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
  on: EntitlementListPorts,
  { org, cursor, limit = PAGE_ROWS, ...asked }: Ask & { org?: string | undefined },
): Promise<Page> {
  const place = cursor === undefined ? null : placeIn(cursor);
  const found = await entitlementsByUrgency(on.ledger, place, {
    ...(await filtersOf(on, asked)),
    organizationId: org,
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

const PLACE = /^(\d{1,15})\.(requested|active|over)\.(ent_\w{1,60})$/;

function placeIn(cursor: string): UrgentPlace {
  const [, asOf = "", part = "", after = ""] = readCursor(cursor, PLACE);
  return { asOfMs: Number(asOf), part: part as UrgentPlace["part"], after };
}

/** So many people with the searched name are looked for among the requesters. */
const PEOPLE_SEARCHED = 100;

/** In the registry, a revoked one includes those that were declined or withdrawn. */
async function filtersOf(
  { people }: EntitlementListPorts,
  { state, search = "" }: Pick<Ask, "search" | "state">,
) {
  const named = search === "" ? [] : await people.accountsAfter({ after: "", search, most: PEOPLE_SEARCHED });
  return {
    state: state === "revoked" ? ("ended" as const) : state,
    search: { text: search, people: named.map(({ id }) => id) },
  };
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
