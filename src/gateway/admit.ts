// The first half of the line: who asks, for what, on which route, for how much; then COMMIT 1 decides. A refusal met
// here is carried to the ledger first, so that strangers only ever get 401 and a retry gets its stored answer even
// though its route has closed since (wire.md §4.2, money.md §7).
import type { Credential } from "../contract/credential.ts";
import type { ChatRequest } from "../contract/chat-request.ts";
import { formatUsd } from "../contract/money.ts";
import { Refusal } from "../contract/refusals.ts";
import type { AdmitOutcome, Ledger, StoredAnswer } from "../ledger/ledger.ts";
import { completionId } from "../lib/id.ts";
import {
  admissionOf,
  type Asking,
  type AskingPorts,
  counted,
  onlyTheBoundRefused,
  readAsking,
} from "./asking.ts";
import { attach, type AttachPorts, type Followed, REPLAYED } from "./attach.ts";
import { credentialOf } from "./credential.ts";
import { EVENT_STREAM } from "./frames.ts";
import type { Admitted } from "./hold.ts";
import { idempotencyRecord, type IdempotencyKey } from "./idempotency.ts";
import type { Incoming } from "./incoming.ts";
import type { Flight } from "./in-flight.ts";
import { storedAfter } from "./kept-stream.ts";
import type { Rate, Taken } from "./rate.ts";
import { printGateway, routeOf } from "./receipt.ts";

export interface AdmitPorts extends AskingPorts, AttachPorts {
  ledger: Pick<Ledger, "admit">;
  rate: Rate;
  /** Learns what other gateways published and switched; null when no others share the store. */
  refreshShelf: (() => Promise<void>) | null;
  /** Whether the headroom headers are shown (`headers.headroom`). */
  showHeadroom: boolean;
}

export type Admission =
  | {
      kind: "admitted";
      admitted: Admitted;
      headers: Record<string, string>;
      taken: Taken;
      /** For callers' keys: duplicates join it. */
      flight: Flight | null;
    }
  | { kind: "replay"; answer: StoredAnswer }
  | Followed
  | { kind: "refused"; refusal: Refusal; gateway: string | null; headers: Record<string, string> };

/** Steps 1–5. Throws `Refusal` only for what stands before the key is known (401, 413, 415). */
export async function admit(ports: AdmitPorts, incoming: Incoming): Promise<Admission> {
  const credential = credentialOf(incoming.authorization); //                                      1
  const body = await incoming.readBody(); //                                                       2
  const taken = ports.rate.take(credential.keyId);
  const from = { body, limited: taken.refusal };
  let asking = readAsking(ports, incoming, from); //                                              2–4
  const by = { requestId: incoming.requestId, credential };
  const untilMs = ports.clock.monotonicMs() + ports.attachWaitMs;
  let refreshed = ports.refreshShelf === null;
  for (;;) {
    const outcome = await ports.ledger.admit(admissionOf(ports, asking, by)); //                   5, COMMIT 1
    if (outcome.kind === "running") {
      const { idempotency, request } = asking;
      const wait = { incoming, idempotency, stream: request?.stream === true, untilMs };
      const place = { organizationId: credential.organizationId, requestId: outcome.requestId };
      const attached = await attach(ports, place, wait);
      if (attached.kind === "ended") continue; // the ledger has its answer now
      if (attached.kind === "late") return conclude(ports, outcome, { incoming, credential, asking, taken });
      taken.release();
      return attached;
    }
    if (asksToCount(asking, outcome)) {
      asking = await counted(asking);
    } else if (!refreshed && foundClosed(outcome)) {
      await ports.refreshShelf?.();
      refreshed = true;
      asking = readAsking(ports, incoming, from);
    } else {
      return conclude(ports, outcome, { incoming, credential, asking, taken });
    }
  }
}

/** Whether the byte bound of the prompt is all that refused, and has not been replaced by a count yet. */
const asksToCount = (asking: Asking, outcome: AdmitOutcome): boolean =>
  outcome.kind === "refused" &&
  outcome.authenticated &&
  !asking.counted &&
  onlyTheBoundRefused(asking, outcome.refusal);

/** Another gateway may just have published or switched what this one's shelf, or COMMIT 1, finds closed. */
const foundClosed = (outcome: AdmitOutcome): boolean =>
  outcome.kind === "refused" &&
  outcome.authenticated &&
  ["model_not_found", "route_disabled", "route_release_stale"].includes(outcome.refusal.code);

/** The ledger's word, as the line goes on. */
function conclude(
  ports: AdmitPorts,
  outcome: AdmitOutcome,
  about: { incoming: Incoming; credential: Credential; asking: Asking; taken: Taken },
): Admission {
  const { incoming, asking, taken } = about;
  const headers = { ...taken.headers, ...idempotencyHeader(asking.idempotency) };
  if (outcome.kind === "admitted") {
    const admitted = admittedOf(ports, outcome, about);
    return {
      kind: "admitted",
      admitted,
      taken,
      flight: admitted.idempotency.callerSupplied ? ports.inFlight.begin(admitted.requestId) : null,
      headers: { ...headers, ...headroomHeaders(ports, admitted), ...ignoredHeader(admitted.request) },
    };
  }
  if (outcome.kind === "refused" && !outcome.authenticated) taken.giveBack();
  taken.release();
  if (outcome.kind === "replay")
    return { kind: "replay", answer: resumed(outcome.answer, incoming.lastEventId) };
  const refusal = outcome.kind === "running" ? stillRunning() : outcome.refusal;
  const known = outcome.kind === "running" || outcome.authenticated;
  return {
    kind: "refused",
    refusal,
    headers,
    gateway: known ? refusedGateway(incoming.requestId, asking) : null,
  };
}

function admittedOf(
  ports: AdmitPorts,
  outcome: Extract<AdmitOutcome, { kind: "admitted" }>,
  { incoming, credential, asking }: { incoming: Incoming; credential: Credential; asking: Asking },
): Admitted {
  const { request, wanted } = asking;
  if (request === null || "refusal" in wanted) throw new Error("admitted without a quote");
  const open = new Set(outcome.openRoutes);
  return {
    requestId: incoming.requestId,
    organizationId: credential.organizationId,
    keyId: credential.keyId,
    idempotency: asking.idempotency,
    request,
    head: {
      id: completionId(incoming.requestId),
      created: Math.floor(incoming.receivedAtMs / 1000),
      model: request.model,
    },
    candidates: asking.candidates.filter(({ release }) => open.has(release.route)),
    amount: wanted.hold,
    promptTokensMax: wanted.promptTokensMax,
    outputCeiling: wanted.outputTokensMax,
    outputTokensMax: wanted.outputTokensMax * request.n,
    researchMode: outcome.researchMode,
    headroom: outcome.headroom,
    admittedAtMs: outcome.admittedAtMs,
    startedAtMs: ports.clock.monotonicMs(),
  };
}

/** `gateway` beside an error, once the key was good: what is known of it, without cost. */
function refusedGateway(requestId: string, { idempotency, candidates }: Asking): string {
  const release = candidates[0]?.release;
  return printGateway({
    requestId,
    idempotency: idempotencyRecord(idempotency),
    route: release ? routeOf(release) : null,
    researchMode: false,
    attempts: 0,
    cost: null,
  });
}

const idempotencyHeader = ({ value, callerSupplied }: IdempotencyKey): Record<string, string> =>
  callerSupplied ? {} : { "x-gw-idempotency-key": value };

const ignoredHeader = ({ ignored }: ChatRequest): Record<string, string> =>
  ignored.length === 0 ? {} : { "x-gw-ignored-parameters": ignored.join(", ") };

function headroomHeaders(ports: AdmitPorts, { amount, headroom }: Admitted): Record<string, string> {
  if (!ports.showHeadroom) return {};
  const headers: Record<string, string> = {
    "x-gw-hold-usd": formatUsd(amount),
    "x-gw-credits-available-usd": formatUsd(headroom.available),
  };
  if (headroom.keyLimitRemaining !== null)
    headers["x-gw-key-limit-remaining-usd"] = formatUsd(headroom.keyLimitRemaining);
  return headers;
}

/** The stored answer; a stream only from the event on after which its reader lost it. */
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
