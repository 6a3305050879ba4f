// Asks for COMMIT 1, and asks again on counted tokens if only the byte bound refused, on a fresh route table if the route was found
// closed, and after running requests were lowered (money.md §6, §7).
import type { Credential } from "../domain/credential.ts";
import { Refusal } from "../domain/refusals.ts";
import type { AdmissionRequest, AdmissionDecision, Ledger, Lowering, Shortage } from "../ledger/ledger.ts";
import { claimOf, wantedOf } from "./admission-request.ts";
import { type PreparedRequest, type PreparePorts, routedAgain } from "./prepared-request.ts";
import { countPrompt, ofTheBound, type TokenTerms, worthCounting } from "./count-prompt.ts";
import { roomOf } from "./answer-room.ts";
import type { Incoming } from "./incoming.ts";
import { lackOf, makeRoom, reclaimableTokens } from "./make-room.ts";
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
  /** Whether a prompt of this organization may be counted only to tell when its request fits; each call counts. */
  mayCountRefused(organizationId: string): boolean;
}

/** Most requests lower no holds. */
const NONE: readonly Lowering[] = [];

/** How often one request is decided again because running ones were lowered. */
const ROOMS_AT_MOST = 8;

/** How long an admission that the bound would not refuse waits for its count; milliseconds. */
const COUNTED_FIRST_WITHIN_MS = 1_000;

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
    if (outcome.kind === "refused" && outcome.count) {
      prepared = await countedFirst(prepared, outcome, { organizationId, signal: incoming.signal });
      continue;
    }
    let stands = outcome;
    const counting = countingOf(ports, prepared, { outcome, credential });
    if (counting !== null) {
      const counted = await countPrompt(prepared, counting.refused, {
        organizationId,
        signal: incoming.signal,
        atMost: counting.atMost,
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
      const exactly = stands === outcome || missing.of === "tokens";
      lowerings = await makeRoom(ports.holds, missing, { credential, model: prepared.model, exactly });
      const others = ports.holds.lowerings(organizationId) > Math.max(lowered, 0);
      if (lowerings.length > 0 || others) continue;
    }
    if (stands.kind === "refused" && stands === outcome) stands = ofTheBound(prepared, stands);
    return { outcome: stands, prepared, room: question.room };
  }
}

/** The request with its prompt counted, or with the word that its bound stands: it is admitted all the same. */
async function countedFirst(
  prepared: PreparedRequest,
  outcome: Refused,
  client: { organizationId: string; signal: AbortSignal },
): Promise<PreparedRequest> {
  const counted = await countPrompt(prepared, outcome, { ...client, withinMs: COUNTED_FIRST_WITHIN_MS });
  return "kind" in counted ? { ...prepared, boundStands: true } : counted;
}

type Refused = Extract<AdmissionDecision, { kind: "refused" }>;

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
    // Nobody else can lower what is reserved here (docs/decisions/0103-token-limits-count-when-the-bound-refuses.md).
    this.asked = wantedOf({ timeouts: ports.timeouts, countFirst: ports.othersPublish }, prepared);
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
 * The refusal to be replaced by a count, and up to how many tokens to count; null if none can be. With no credit available and none
 * held that could come back, a count cannot change the answer.
 */
function countingOf(
  ports: Pick<AskLedgerPorts, "holds" | "mayCountRefused">,
  prepared: PreparedRequest,
  { outcome, credential }: { outcome: AdmissionDecision; credential: Credential },
): { refused: Refused; atMost: number } | null {
  if (outcome.kind !== "refused" || !outcome.authenticated || isBroke(outcome.short)) return null;
  const { model } = prepared;
  const terms: TokenTerms = {
    reclaimable: (subject) => reclaimableTokens(ports.holds, { subject, credential, model }),
    mayCountRefused: () => ports.mayCountRefused(credential.organizationId),
  };
  const worth = worthCounting(prepared, outcome, terms);
  return worth && { refused: outcome, ...worth };
}

const isBroke = (short: Shortage | undefined): boolean =>
  short?.of === "credits" && short.available === 0n && short.held === 0n;

/** Another gateway may have just published or switched a route that this one's route table, or COMMIT 1, found closed. */
const foundClosed = (outcome: AdmissionDecision): boolean =>
  outcome.kind === "refused" &&
  outcome.authenticated &&
  ["model_not_found", "route_disabled", "route_release_stale"].includes(outcome.refusal.code);
