// Research Mode, for requesters and deciders. A requester never decides their own request (hardening.md S10);
// an approval never opens a closed route.
import type { z } from "zod";
import type * as catalogueShapes from "../api/shapes/catalogue.ts";
import type { Actor } from "../domain/actor.ts";
import { OperatorRefusal } from "../domain/operator-refusals.ts";
import { notFound } from "../domain/unknown-record.ts";
import type { People } from "../people/people.ts";
import type { Transactions } from "../ledger/ledger.ts";
import type { EntitlementAnswer } from "../registry/entitlement-notes.ts";
import {
  closeRequest,
  endEntitlement,
  type EntitlementRecord,
  requestEntitlement,
} from "../registry/entitlements.ts";
import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/id.ts";
import { approve, secondPerson } from "./approval.ts";
import { tooManyRequests } from "./entitlements.ts";
import { checkResearch, type Released } from "./released-model.ts";
import { readFutureTime } from "../domain/read.ts";
import { type EntitlementPorts, entitlementOf, recordOf } from "../reporting/entitlements.ts";

interface ResearchPorts extends EntitlementPorts {
  clock: Clock;
  ledger: Transactions;
  publisher: Released;
  people: Pick<People, "membership" | "persons">;
}

type Entitlement = z.output<typeof catalogueShapes.entitlement>;
type Decision =
  | { kind: "approve"; expires: string; note: string | null }
  | { kind: "decline" | "revoke"; reason: string };

export const research = (on: ResearchPorts) => ({
  async ask(
    organizationId: string,
    { model, project, purpose, until }: z.output<typeof catalogueShapes.askInput>,
    actor: Actor,
  ): Promise<Entitlement> {
    const untilMs = until === null ? null : readFutureTime(until, "until", on.clock.nowMs());
    await checkResearch(on.publisher, model);
    const id = newId("ent");
    const wish = { purpose, wantedUntilMs: untilMs };
    const asked = await requestEntitlement(on.ledger, { id, organizationId, model, project, wish }, actor);
    if (typeof asked === "string") throw tooManyRequests(asked);
    return await entitlementOf(on, id);
  },
  async withdraw(organizationId: string, id: string, actor: Actor): Promise<Entitlement> {
    const record = await recordOf(on, id);
    if (record.organizationId !== organizationId) throw notFound("entitlement");
    if (record.status !== "requested") throw notRequested(record);
    await close(on, id, { outcome: "withdrawn", note: null }, actor);
    return await entitlementOf(on, id);
  },
  /**
   * Approving and declining throw if the person behind `actor` made the request, whatever credential they
   * use.
   */
  async decide(id: string, decision: Decision, actor: Actor): Promise<Entitlement> {
    const record = await recordOf(on, id);
    if (decision.kind === "decline" && record.requester === actor.id) throw secondPerson("entitlement");
    if (decision.kind !== "revoke" && record.status !== "requested") throw notRequested(record);
    if (decision.kind === "approve") {
      const expiresAtMs = readFutureTime(decision.expires, "expires", on.clock.nowMs());
      const ports = { ledger: on.ledger, people: async () => on.people };
      const terms = { expiresAtMs, note: decision.note, actor, field: "entitlement" } as const;
      const after = await approve(ports, record, terms);
      if (after?.status !== "active" || after.approvedBy !== actor.id) throw notRequested(after ?? record);
    } else {
      const outcome = decision.kind === "decline" ? "declined" : null;
      await close(on, id, { outcome, note: decision.reason }, actor);
    }
    return await entitlementOf(on, id);
  },
});

/**
 * Ends an entitlement. With an outcome: a request that was never approved; throws if it was decided in the
 * meantime. Without one: any entitlement that has not ended; throws if it has.
 */
async function close(
  { ledger }: ResearchPorts,
  id: string,
  answer: EntitlementAnswer,
  actor: Actor,
): Promise<void> {
  const { outcome, note } = answer;
  const closed = await (outcome === null
    ? endEntitlement(ledger, id, note, actor)
    : closeRequest(ledger, id, answer, actor));
  if (closed === null) throw notFound("entitlement");
  if (!closed.ended) throw outcome === null ? alreadyEnded(closed.record) : notRequested(closed.record);
}

const alreadyEnded = ({ id }: EntitlementRecord): OperatorRefusal =>
  new OperatorRefusal("conflict", `The entitlement ${id} has already ended.`, "entitlement");

const notRequested = ({ id, status }: EntitlementRecord): OperatorRefusal =>
  new OperatorRefusal(
    "conflict",
    `The entitlement ${id} is ${status}; only a requested one can be decided.`,
    "entitlement",
  );
