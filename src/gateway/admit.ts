// The first half of a request's path: who asks, for what, on which route, for how much; then COMMIT 1 decides. A refusal met here
// is first carried to the ledger, so that strangers only ever get 401 and a retry gets its stored answer even if its route has
// closed since (wire.md §4.2, money.md §7).
import type { Credential } from "../domain/credential.ts";
import type { Asked } from "../domain/request-log.ts";
import { isOverloaded } from "../domain/overloaded.ts";
import { ReceivedBody } from "../domain/received-body.ts";
import { Refusal } from "../domain/refusals.ts";
import type { AdmissionDecision, Ledger, RateRefusal, StoredAnswer } from "../ledger/ledger.ts";
import { addHeadroom, addIdempotency, addMaximum } from "./admission-headers.ts";
import { type AskLedgerPorts, askLedger } from "./ask-ledger.ts";
import {
  type PreparedRequest,
  type PreparePorts,
  askedOf,
  nothingPrepared,
  prepareRequest,
} from "./prepared-request.ts";
import { attach, type AttachPorts, type Followed, REPLAYED } from "./attach.ts";
import { credentialOf } from "./credential.ts";
import { EVENT_STREAM, storedAfter } from "./event-stream.ts";
import type { Admitted, Candidate, Hold } from "./hold.ts";
import type { Incoming } from "./incoming.ts";
import type { Flight } from "./in-flight.ts";
import { withWayOut } from "./short-of-credits.ts";
import type { Room } from "../limits/byte-rooms.ts";
import { nextTurn } from "../lib/turn.ts";
import type { Concurrency, ConcurrencySlot } from "../limits/concurrency.ts";
import { withPrompt } from "../limits/prompts.ts";
import type { SpentRates } from "../limits/spent-rates.ts";
import { promptRoom, type PromptRoomPorts } from "./prompt-room.ts";
import { limitOf, rateHeaders } from "./rate-headers.ts";
import { printGateway, routeOf } from "./receipt.ts";

export interface AdmitPorts extends PreparePorts, AttachPorts, AskLedgerPorts, PromptRoomPorts {
  ledger: Pick<Ledger, "admit" | "checkKey" | "rateRefusal">;
  limits: Concurrency;
  spentRates: SpentRates;
  /** Called with the name of a limit on all gateways together that refused. */
  limitRefused(limit: string): void;
  /** Whether the remaining rate is also reported in the form of the IETF's draft (`headers.rate_limit`). */
  showRateLimit: boolean;
  /** Whether the headroom headers are sent (`headers.headroom`). */
  showHeadroom: boolean;
}

export type AdmissionOutcome =
  | {
      kind: "admitted";
      hold: Hold;
      headers: Record<string, string>;
      slot: ConcurrencySlot;
      /** For requests with a caller's key: duplicates join it. */
      flight: Flight | null;
    }
  /** `room`: of a large answer, to be released once it has been sent. */
  | { kind: "replay"; answer: StoredAnswer; asked: Asked; room: Room | null }
  | (Followed & { asked: Asked })
  | {
      kind: "refused";
      refusal: Refusal;
      gateway: string | null;
      headers: Record<string, string>;
      asked: Asked;
    };

/** Steps 1–6. Throws `Refusal` for what is refused before the key is known (401, 413, 415), and while the store is away (503). */
export async function admit(ports: AdmitPorts, incoming: Incoming): Promise<AdmissionOutcome> {
  const credential = credentialOf(incoming.authorization); //                                      1
  incoming.checkBody();
  await nextTurn(); // from here on together with all that arrived in this turn
  const checking = ports.ledger.checkKey(credential); //                                           2
  const terms = checking instanceof Promise ? await checking : checking;
  if (terms instanceof Refusal) throw terms;
  const refusal = ports.limits.refusal(credential);
  if (refusal !== null) return refusedUnread(incoming, refusal);
  if (incoming.idempotencyKey === null && ports.spentRates.mayBe(credential)) {
    const over = await ports.ledger.rateRefusal(credential);
    if (over !== null) return overRate(ports, incoming, over);
  }
  const { organizationId } = credential;
  const body = new ReceivedBody(await incoming.readBody(organizationId)); //                                         3
  const making = promptRoom(ports, { organizationId, body, signal: incoming.signal });
  const prompt = making instanceof Promise ? await making : making;
  if (prompt instanceof Refusal) return refusedUnread(incoming, prompt);
  let promptKept = false; // only by an admitted request
  try {
    const untilMs = ports.clock.monotonicMs() + ports.attachWaitMs;
    for (let waited = false; ; waited = true) {
      const slot = ports.limits.take(credential); // after a wait there may be none, but the awaited answer is returned all the same
      if (slot instanceof Refusal && !waited) return refusedUnread(incoming, slot);
      let slotKept = false; // only by an admitted request; one that waits for another holds none
      let duplicate: Duplicate;
      try {
        const preparing = prepareRequest(ports, incoming, { organizationId, terms, body }); //       3–5
        const first = preparing instanceof Promise ? await preparing : preparing;
        if (slot instanceof Refusal) first.wanted = { stage: "route", refusal: slot };
        const { outcome, prepared, room } = await askLedger(ports, first, credential, incoming); // 6, COMMIT 1
        if (outcome.kind !== "running") {
          const concluded = conclude(ports, outcome, { incoming, credential, slot, prepared, room, prompt });
          slotKept = promptKept = concluded.kind === "admitted";
          return concluded;
        }
        duplicate = { requestId: outcome.requestId, prepared };
      } finally {
        if (!slotKept && !(slot instanceof Refusal)) slot.done();
      }
      const { idempotency, request } = duplicate.prepared;
      const place = { organizationId, requestId: duplicate.requestId };
      const wait = { incoming, idempotency, stream: request?.stream === true, untilMs };
      const attached = await attach(ports, place, wait);
      if (attached.kind === "follow") return { ...attached, asked: askedOf(duplicate.prepared) };
      if (attached.kind === "late")
        return refused(incoming, stillRunning(), { prepared: duplicate.prepared, headers: {} });
    } // the other request has ended: the ledger has its answer now
  } finally {
    if (!promptKept) prompt?.release();
  }
}

/** Another request with this key is still running. */
interface Duplicate {
  requestId: string;
  prepared: PreparedRequest;
}

/** A request that the ledger has decided on. */
interface Decided {
  incoming: Incoming;
  credential: Credential;
  prepared: PreparedRequest;
  slot: ConcurrencySlot | Refusal;
  /** Room of a stored answer. */
  room: Room | null;
  prompt: Room | null;
}

/** Turns the ledger's decision into an outcome. */
function conclude(
  ports: AdmitPorts,
  outcome: Exclude<AdmissionDecision, { kind: "running" }>,
  about: Decided,
): AdmissionOutcome {
  const { incoming, prepared, slot } = about;
  const rates = "rates" in outcome ? outcome.rates : undefined;
  if (rates !== undefined) ports.spentRates.note(about.credential, rates);
  const headers = rateHeaders(rates, ports);
  switch (outcome.kind) {
    case "admitted": {
      if (slot instanceof Refusal) throw new Error("admitted without a slot");
      const admitted = admittedOf(ports, outcome, about);
      addIdempotency(headers, prepared.idempotency);
      addMaximum(headers, admitted);
      if (ports.showHeadroom) addHeadroom(headers, admitted);
      return {
        kind: "admitted",
        hold: ports.holds.open(admitted),
        slot: withPrompt(slot, about.prompt),
        flight: admitted.idempotency.callerSupplied ? ports.inFlight.begin(admitted.requestId) : null,
        headers,
      };
    }
    case "replay":
      return {
        kind: "replay",
        answer: resumed(outcome.answer, incoming.lastEventId),
        asked: askedOf(prepared),
        room: about.room,
      };
    case "refused": {
      tellLimit(ports, outcome.refusal);
      return refused(incoming, withWayOut(prepared, outcome), {
        prepared: outcome.authenticated ? prepared : null,
        headers,
      });
    }
  }
}

/** `prepared`: null for callers without a valid key, who learn nothing about it. */
function refused(
  incoming: Incoming,
  refusal: Refusal,
  { prepared, headers }: { prepared: PreparedRequest | null; headers: Record<string, string> },
): AdmissionOutcome {
  const known = prepared ?? nothingPrepared(incoming);
  addIdempotency(headers, known.idempotency);
  return {
    kind: "refused",
    refusal,
    asked: askedOf(known),
    headers,
    gateway: prepared === null ? null : refusedGateway(incoming.requestId, prepared),
  };
}

/** Refuses before the body is read, as COMMIT 1 would. A repeated idempotency key is exempt, because its answer may be stored. */
function overRate(
  ports: Pick<AdmitPorts, "limitRefused" | "showRateLimit">,
  incoming: Incoming,
  { refusal, rates }: RateRefusal,
): AdmissionOutcome {
  tellLimit(ports, refusal);
  return refused(incoming, refusal, {
    prepared: nothingPrepared(incoming),
    headers: rateHeaders(rates, ports),
  });
}

function tellLimit({ limitRefused }: Pick<AdmitPorts, "limitRefused">, refusal: Refusal): void {
  const limit = limitOf(refusal);
  if (limit !== null) limitRefused(limit);
}

/** Refused for lack of room, whatever the body says. A full gateway does no more work for it. */
const refusedUnread = (incoming: Incoming, refusal: Refusal): AdmissionOutcome =>
  refused(incoming, refusal, {
    prepared: isOverloaded(refusal) ? null : nothingPrepared(incoming),
    headers: {},
  });

function admittedOf(
  ports: AdmitPorts,
  outcome: Extract<AdmissionDecision, { kind: "admitted" }>,
  { incoming, credential, prepared }: Decided,
): Admitted {
  const { openRoutes } = outcome;
  const { candidates, request, printer, wanted } = prepared;
  if (request === null || printer === null || "refusal" in wanted)
    throw new Error("admitted without a quote");
  return {
    requestId: incoming.requestId,
    organizationId: credential.organizationId,
    keyId: credential.keyId,
    idempotency: prepared.idempotency,
    request,
    format: incoming.format,
    printer,
    head: {
      requestId: incoming.requestId,
      created: Math.floor(incoming.receivedAtMs / 1000),
      model: request.model,
    },
    candidates: openRoutes.length === candidates.length ? candidates : openOf(candidates, openRoutes),
    amount: wanted.hold,
    promptTokensMax: wanted.promptTokensMax,
    counted: prepared.counted,
    outputCeiling: wanted.outputCeiling,
    outputTokensMax: wanted.outputCeiling * request.n,
    researchMode: outcome.researchMode,
    headroom: outcome.headroom,
    admittedAtMs: outcome.admittedAtMs,
    startedAtMs: ports.clock.monotonicMs(),
    trace: incoming.trace?.admitted() ?? null,
  };
}

/** Drops candidates whose routes closed between plan and commit. */
const openOf = (candidates: readonly Candidate[], routes: readonly string[]): Candidate[] =>
  candidates.filter(({ release }) => routes.includes(release.route));

/** The `gateway` object of an error after the key was verified: what is known of it, without cost. */
function refusedGateway(requestId: string, { idempotency, candidates }: PreparedRequest): string {
  const release = candidates[0]?.release;
  return printGateway({
    requestId,
    idempotency,
    route: release ? routeOf(release) : null,
    researchMode: false,
    attempts: 0,
    cost: null,
  });
}

/** The stored answer; for a stream, only the events after the last one that its reader received. */
function resumed(answer: StoredAnswer, lastEventId: string | null): StoredAnswer {
  const headers = { ...answer.headers, ...REPLAYED };
  if (lastEventId === null || answer.headers["content-type"] !== EVENT_STREAM) return { ...answer, headers };
  const rest = storedAfter(Buffer.from(answer.body).toString(), lastEventId);
  return { ...answer, headers, body: Buffer.from(rest) };
}

const stillRunning = (): Refusal =>
  new Refusal(
    "idempotency_in_progress",
    "The first request with this Idempotency-Key is still running. Send the same request again in a moment to get its answer.",
    {
      retryAfterMs: 500,
    },
  );
