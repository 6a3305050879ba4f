// Asks for COMMIT 1, and asks again on counted tokens if only the byte bound refused, on a fresh route table if the route was found
// closed, and after running requests were lowered (money.md §6, §7).
import type { Credential } from "../domain/credential.ts";
import { Refusal } from "../domain/refusals.ts";
import type { AdmissionRequest, AdmissionDecision, Ledger, Lowering, Shortage } from "../ledger/ledger.ts";
import { claimOf, wantedOf } from "./admission-request.ts";
import { type PreparedRequest, type PreparePorts, routedAgain } from "./prepared-request.ts";
import { countPrompt, onlyTheBoundRefused } from "./count-prompt.ts";
import { roomOf } from "./answer-room.ts";
import type { Incoming } from "./incoming.ts";
import { lackOf, makeRoom } from "./make-room.ts";
import type { Room } from "../limits/byte-rooms.ts";
import type { LargeAnswers } from "../limits/large-answers.ts";
import type { RunningHolds } from "./running-holds.ts";

export interface AskLedgerPorts extends PreparePorts {
  ledger: Pick<Ledger, "admit">;
  answers: LargeAnswers;
  holds: RunningHolds;
  /** Reads what was published and switched, which the store knows before the route table does. */
  refreshRoutes: () => Promise<void>;
  /** Whether the route table may miss what others published; otherwise it is only briefly behind, and COMMIT 1 notices. */
  othersPublish: boolean;
}

/** Most requests lower no holds. */
const NONE: readonly Lowering[] = [];

/** How often one request is decided again because running ones were lowered. */
const ROOMS_AT_MOST = 8;

/** The ledger's last word on a request. */
export interface FinalDecision {
  outcome: AdmissionDecision;
  /** The request that was decided on. */
  prepared: PreparedRequest;
  /** Room of a large stored answer, to be released once it has been sent. */
  room: Room | null;
}

/** Returns the ledger's final decision. */
export async function askLedger(
  ports: AskLedgerPorts,
  first: PreparedRequest,
  credential: Credential,
  incoming: Pick<Incoming, "requestId" | "signal">,
): Promise<FinalDecision> {
  const { organizationId } = credential;
  let prepared = first;
  let refreshed = false;
  let lowerings = NONE;
  for (let rooms = 0; ; ) {
    const lowered = ports.holds.lowerings(organizationId);
    const question = new Question(ports, prepared, credential, incoming.requestId);
    question.lowerings = lowerings;
    let outcome: AdmissionDecision | null = null;
    try {
      outcome = await ports.ledger.admit(question);
    } finally {
      question.answered(outcome);
    }
    lowerings = NONE;
    let stands = outcome;
    if (refusedByTheBound(prepared, outcome)) {
      const counted = await countPrompt(prepared, outcome, {
        organizationId,
        signal: incoming.signal,
      });
      if (!("kind" in counted)) {
        prepared = counted;
        continue;
      }
      stands = counted;
    } else if (
      !refreshed &&
      foundClosed(outcome) &&
      (ports.othersPublish || question.asked.kind === "plan")
    ) {
      await ports.refreshRoutes();
      refreshed = true;
      prepared = routedAgain(ports, prepared, organizationId);
      continue;
    }
    if (outcome.kind === "refused" && outcome.outputAtMost !== undefined) {
      prepared = routedAgain(ports, { ...prepared, outputAtMost: outcome.outputAtMost }, organizationId);
      continue;
    }
    const missing = stands.kind === "refused" ? lackOf(stands.short) : null;
    if (missing !== null && rooms++ < ROOMS_AT_MOST) {
      lowerings = await makeRoom(ports.holds, missing, { credential, exactly: stands === outcome });
      const others = ports.holds.lowerings(organizationId) > Math.max(lowered, 0);
      if (lowerings.length > 0 || others) continue;
    }
    return { outcome: stands, prepared, room: question.room };
  }
}

/** The argument of COMMIT 1. */
class Question implements AdmissionRequest {
  lowerings = NONE;
  room: Room | null = null;
  readonly claim: AdmissionRequest["claim"];
  readonly asked: AdmissionRequest["asked"];

  constructor(
    private readonly ports: AskLedgerPorts,
    prepared: PreparedRequest,
    readonly credential: Credential,
    readonly requestId: string,
  ) {
    this.claim = claimOf(prepared);
    this.asked = wantedOf(ports, prepared);
  }

  roomFor(bytes: number): Refusal | null {
    const room = roomOf(this.ports.answers, this.credential.organizationId, bytes);
    if (room instanceof Refusal) return room;
    this.room = room;
    return null;
  }

  /** Called with any answer: what could not be read needs no room. */
  answered(outcome: AdmissionDecision | null): void {
    if (outcome?.kind !== "replay") this.room?.release();
  }
}

/**
 * Whether only the byte bound of the prompt refused, and has not been replaced by a count yet. With no credit available and none
 * held that could come back, a count cannot change the answer.
 */
const refusedByTheBound = (
  prepared: PreparedRequest,
  outcome: AdmissionDecision,
): outcome is Extract<AdmissionDecision, { kind: "refused" }> =>
  outcome.kind === "refused" &&
  outcome.authenticated &&
  onlyTheBoundRefused(prepared, outcome.refusal) &&
  !isBroke(outcome.short);

const isBroke = (short: Shortage | undefined): boolean =>
  short?.of === "credits" && short.available === 0n && short.held === 0n;

/** Another gateway may have just published or switched a route that this one's route table, or COMMIT 1, found closed. */
const foundClosed = (outcome: AdmissionDecision): boolean =>
  outcome.kind === "refused" &&
  outcome.authenticated &&
  ["model_not_found", "route_disabled", "route_release_stale"].includes(outcome.refusal.code);
