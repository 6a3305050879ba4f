// Research Mode, for those who ask and those who decide. The one who asked never decides (hardening.md S10); an approval
// never opens a closed route.
import type { Actor } from "../../contract/actor.ts";
import { OperatorRefusal } from "../../contract/admin-refusals.ts";
import type { AppAnswer } from "../../contract/app.ts";
import type { Desk } from "../../contract/desk.ts";
import { formatUsd, ZERO_USD } from "../../contract/money.ts";
import type { People } from "../../contract/people.ts";
import { Refusal } from "../../contract/refusals.ts";
import type { EntitlementRecord, Ledger } from "../../ledger/ledger.ts";
import type { Clock } from "../../lib/clock.ts";
import { newId } from "../../lib/id.ts";
import type { RouteStanding } from "../../releases/standing.ts";
import { numberOf, orNull, type Sql, textOf } from "../../store/sql.ts";
import { printTime, printTimeOrNull } from "../print.ts";
import { readFutureTime } from "../read.ts";
import { spendsOf } from "./entitlement-spend.ts";

type Entitlement = AppAnswer<"GET /orgs/{org}/research">["data"][number];

export interface ResearchPorts {
  sql: Sql;
  clock: Clock;
  ledger: Pick<Ledger, "approveEntitlement" | "entitlements" | "requestEntitlement" | "revokeEntitlement">;
  people: Pick<People, "persons">;
  standings(): RouteStanding[];
}

interface Note {
  purpose: string;
  wantedUntilMs: number | null;
  outcome: "declined" | "withdrawn" | null;
  decidedBy: string | null;
  note: string | null;
}

type Research = Pick<Desk, "ask" | "decide" | "entitlement" | "entitlements" | "withdraw">;

export const research = (on: ResearchPorts): Research => ({
  async ask(organizationId, { model, project, purpose, until }, actor) {
    const untilMs = until === null ? null : readFutureTime(until, "until", on.clock.nowMs());
    const standing = on.standings().find(({ release }) => release.model === model);
    if (standing?.release.tier !== "research")
      throw new Refusal("invalid_request", "Only a research model takes an entitlement.", { param: "model" });
    const id = newId("ent");
    // The words first: a request that is in the ledger always has them.
    await on.sql.rows(
      "INSERT INTO entitlement_note (entitlement_id, purpose, wanted_until) VALUES (?1, ?2, ?3)",
      id,
      purpose,
      untilMs,
    );
    await on.ledger.requestEntitlement({ id, organizationId, model, project }, actor);
    return await this.entitlement(id);
  },
  async entitlements(organizationId) {
    const records = await on.ledger.entitlements(organizationId ?? undefined);
    return (await printed(on, records)).toReversed();
  },
  async entitlement(id) {
    const record = await recordOf(on, id);
    const [row] = await printed(on, [record]);
    if (row === undefined) throw unknown();
    return row;
  },
  async withdraw(organizationId, id, actor) {
    const record = await recordOf(on, id);
    if (record.organizationId !== organizationId) throw unknown();
    if (record.status !== "requested") throw notRequested(record);
    await close(on, id, { outcome: "withdrawn", decidedBy: actor, note: null });
    return await this.entitlement(id);
  },
  async decide(id, decision, actor) {
    const record = await recordOf(on, id);
    if (decision.kind !== "revoke" && record.requestedBy === actor.id)
      throw new OperatorRefusal(
        "second_person_required",
        "You asked for this entitlement. Another operator has to decide it.",
        "entitlement",
      );
    if (decision.kind !== "revoke" && record.status !== "requested") throw notRequested(record);
    if (decision.kind === "approve") {
      const expiresAtMs = readFutureTime(decision.expires, "expires", on.clock.nowMs());
      await remember(on.sql, id, { outcome: null, decidedBy: actor, note: decision.note });
      const after = await on.ledger.approveEntitlement(id, expiresAtMs, actor);
      if (after?.status !== "active" || after.approvedBy !== actor.id) throw notRequested(after ?? record);
    } else if (decision.kind === "decline") {
      await close(on, id, { outcome: "declined", decidedBy: actor, note: decision.reason });
    } else {
      await remember(on.sql, id, { outcome: null, decidedBy: actor, note: decision.reason });
      await on.ledger.revokeEntitlement(id, actor);
    }
    return await this.entitlement(id);
  },
});

type Ending = Pick<Note, "outcome" | "note"> & { decidedBy: Actor };

/** Ends a request that was never approved: from now on it opens nothing. */
async function close({ sql, ledger }: ResearchPorts, id: string, ending: Ending): Promise<void> {
  await ledger.revokeEntitlement(id, ending.decidedBy);
  await remember(sql, id, ending);
}

/** Requests of the command line have no words yet. */
async function remember(sql: Sql, id: string, { outcome, decidedBy, note }: Ending): Promise<void> {
  await sql.rows(
    `INSERT INTO entitlement_note (entitlement_id, purpose, outcome, decided_by, note) VALUES (?1, '', ?2, ?3, ?4)
     ON CONFLICT (entitlement_id) DO UPDATE SET outcome = excluded.outcome, decided_by = excluded.decided_by,
       note = excluded.note`,
    id,
    outcome,
    decidedBy.id,
    note,
  );
}

async function recordOf({ ledger }: ResearchPorts, id: string): Promise<EntitlementRecord> {
  const record = (await ledger.entitlements()).find((entitlement) => entitlement.id === id);
  if (record === undefined) throw unknown();
  return record;
}

const unknown = (): OperatorRefusal =>
  new OperatorRefusal("not_found", "There is no record of this id.", "entitlement");

const notRequested = ({ id, status }: EntitlementRecord): OperatorRefusal =>
  new OperatorRefusal(
    "conflict",
    `The entitlement ${id} is ${status}; only a requested one can be decided.`,
    "entitlement",
  );

async function printed(on: ResearchPorts, records: readonly EntitlementRecord[]): Promise<Entitlement[]> {
  const notes = await notesOf(on.sql);
  const ids = records.flatMap(({ id, requestedBy, approvedBy }) => [
    requestedBy,
    approvedBy ?? notes.get(id)?.decidedBy ?? "",
  ]);
  const names = new Map((await on.people.persons([...new Set(ids)])).map(({ id, name }) => [id, name]));
  const standings = on.standings();
  const spends = await spendsOf(on.sql, new Set(records.map(({ id }) => id)));
  return records.map((record) => {
    const note = notes.get(record.id);
    const decider = record.approvedBy ?? note?.decidedBy ?? null;
    return {
      id: record.id,
      org: record.organizationId,
      model: record.model,
      project: record.project,
      status: record.status,
      requested_by: record.requestedBy,
      approved_by: record.approvedBy,
      created_at: printTime(record.createdAtMs),
      expires_at: printTimeOrNull(record.expiresAtMs),
      asked_by: { id: record.requestedBy, name: names.get(record.requestedBy) ?? null },
      decided_by: decider === null ? null : { id: decider, name: names.get(decider) ?? null },
      purpose: note === undefined || note.purpose === "" ? null : note.purpose,
      wanted_until: printTimeOrNull(note?.wantedUntilMs ?? null),
      note: note?.note ?? null,
      state: record.status === "revoked" ? (note?.outcome ?? "revoked") : record.status,
      spend_usd: formatUsd(spends.get(record.id) ?? ZERO_USD),
      routes: standings
        .filter(({ release }) => release.model === record.model)
        .map(({ release, state, reason }) => ({ route: release.route, state, reason })),
    };
  });
}

async function notesOf(sql: Sql): Promise<Map<string, Note>> {
  const rows = await sql.rows("SELECT * FROM entitlement_note");
  return new Map(
    rows.map((row) => [
      textOf(row["entitlement_id"]),
      {
        purpose: textOf(row["purpose"]),
        wantedUntilMs: orNull(row["wanted_until"], numberOf),
        outcome: orNull(row["outcome"], textOf) as Note["outcome"],
        decidedBy: orNull(row["decided_by"], textOf),
        note: orNull(row["note"], textOf),
      },
    ]),
  );
}
