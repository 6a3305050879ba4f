// Plays planned requests on the ledger itself, as the gateway would have: held before they run, charged or
// released when they end, refused if the ledger refuses. So the books of a seeded store are real books.
import type { Credential } from "../../domain/credential.ts";
import { usdJsonNumber } from "../../domain/money.ts";
import type { Release } from "../../domain/release.ts";
import { Refusal, type RefusalCode } from "../../domain/refusals.ts";
import type { Asked, RequestLogEntry } from "../../domain/request-log.ts";
import { FIRST_SURFACE } from "../../domain/surfaces.ts";
import type { AdmissionRequest, Claim, Ledger, StoredAnswer } from "../../ledger/ledger.ts";
import type { RequestLog } from "../../operator/request-log.ts";
import { chargeOf } from "../../pricing/charge.ts";
import { holdOf } from "../../pricing/quote.ts";
import { maxUsd, ZERO_USD } from "../../domain/money.ts";
import type { RouteTable } from "../../releases/route-table.ts";
import { attemptsOf } from "./attempts.ts";
import type { Chance } from "./chance.ts";
import type { SeededKey } from "./cast.ts";
import type { MovingClock } from "./moving-clock.ts";
import { earlyRefusal } from "./refused-early.ts";
import type { Timeline } from "./timeline.ts";
import type { SeededRequest } from "./traffic.ts";

export interface Stage {
  ledger: Ledger;
  requestLog: RequestLog;
  routeTable: RouteTable;
  clock: MovingClock;
  timeline: Timeline;
  chance: Chance;
  credentialOf(key: SeededKey): Credential;
}

const TIMEOUT_MS = 600_000;

interface Played {
  request: SeededRequest;
  requestId: string;
  releases: Release[];
  claim: Claim | null;
  asked: Asked;
}

/** Admits a request; its consequences go on the timeline. */
export async function play(on: Stage, request: SeededRequest): Promise<void> {
  const { clock, chance } = on;
  const releases = (on.routeTable.model(request.model.model)?.routes ?? []).map(({ release }) => release);
  const { promptBound: promptTokens, counted, outputMax: outputTokens } = request;
  const hold = releases.reduce(
    (most, { price }) => maxUsd(most, holdOf(price, promptTokens, outputTokens)),
    ZERO_USD,
  );
  const played: Played = {
    request,
    requestId: chance.requestId(clock.nowMs()),
    releases,
    claim: request.keyed ? newClaim(chance) : null,
    asked: {
      model: request.model.model,
      stream: request.stream,
      bounds: { promptTokens, counted, outputTokens, hold },
    },
  };
  if (request.refusedEarly !== null) return refuseEarly(on, played, request.refusedEarly);
  await admit(on, played);
}

function refuseEarly(on: Stage, played: Played, code: RefusalCode): void {
  const { details, priced, status } = earlyRefusal(code, played.asked);
  const asked = {
    ...played.asked,
    ...(code === "model_not_found" && { model: `${played.asked.model}-latest` }),
  };
  note(on, played, { status, code, details, asked: priced ? asked : { ...asked, bounds: null } });
}

async function admit(on: Stage, played: Played): Promise<void> {
  const { request, claim } = played;
  const decision = await on.ledger.admit(admissionOf(on, played));
  switch (decision.kind) {
    case "refused": {
      const { status, code, details } = decision.refusal;
      // Unauthenticated requests leave no row, including those with a revoked key.
      if (decision.authenticated) note(on, played, { status, code, details });
      return;
    }
    case "replay": {
      const { status, requestId: replayOf } = decision.answer;
      note(on, played, { status, code: null, details: undefined, replayOf });
      return;
    }
    case "running":
      note(on, played, refusedAs("idempotency_in_progress"));
      return;
    case "admitted": {
      const serving = played.releases.filter(({ route }) => decision.openRoutes.includes(route));
      const endsAtMs = decision.admittedAtMs + request.totalMs;
      on.timeline.add(endsAtMs, () => end(on, played, { serving, admittedAtMs: decision.admittedAtMs }));
      if (claim !== null && request.repeatedAfterMs !== null)
        on.timeline.add(endsAtMs + request.repeatedAfterMs, () => repeat(on, played));
    }
  }
}

/** Sends the same request with the same idempotency key again. */
const repeat = (on: Stage, played: Played): Promise<void> =>
  admit(on, {
    ...played,
    request: { ...played.request, repeatedAfterMs: null },
    requestId: on.chance.requestId(on.clock.nowMs()),
  });

function admissionOf(on: Stage, { request, requestId, releases, claim, asked }: Played): AdmissionRequest {
  const { model, promptBound, outputMax, stream, key } = request;
  return {
    requestId,
    credential: on.credentialOf(key),
    claim,
    asked: {
      kind: "plan",
      plan: {
        model: model.model,
        tier: model.tier,
        requiresPaid: model.requires_paid === true,
        routes: releases.map(({ route, version, digest, expiresAtMs }) => ({
          route,
          version,
          digest,
          expiresAtMs,
        })),
        hold: asked.bounds?.hold ?? ZERO_USD,
        promptBound,
        outputBound: outputMax,
        outputCeiling: outputMax,
        stream,
        surface: surfaceOf(request),
        timeoutMs: TIMEOUT_MS,
      },
    },
  };
}

interface Running {
  /** In trial order. */
  serving: Release[];
  admittedAtMs: number;
}

async function end(on: Stage, played: Played, running: Running): Promise<void> {
  const { request, requestId, claim } = played;
  const { organizationId } = on.credentialOf(request.key);
  const { attempts, served } = attemptsOf(on.chance, request, running);
  const { totalMs, ending } = request;
  const at = { organizationId, requestId, attempts, totalMs };
  if (ending === "failed" || ending === "timed_out") {
    const [status, errorCode] = ending === "failed" ? [502, "provider_error"] : [504, "provider_timeout"];
    await on.ledger.void({ ...at, status, errorCode, freeClaim: ending === "failed", answer: null });
    return;
  }
  if (ending === "lost") {
    await on.ledger.void({ ...at, status: 500, errorCode: "owner_lost", freeClaim: false, answer: null });
    return;
  }
  const cut = ending === "cut";
  const delivered = Math.max(1, Math.floor(request.usage.completionTokens * 0.4));
  const usage = cut
    ? { ...request.usage, completionTokens: delivered, reasoningTokens: null }
    : { ...request.usage };
  const evidence = cut ? "delivered_tokens" : "provider_usage";
  const told = attempts.at(-1)?.told ?? null;
  const hold = played.asked.bounds?.hold ?? ZERO_USD;
  const charged = chargeOf({ usage, told, price: served.price, hold, evidence });
  await on.ledger.settle({
    ...at,
    ...charged,
    releaseDigest: served.digest,
    evidence,
    usage,
    status: 200,
    finishReason: cut ? null : finishReasonOf(on.chance, request),
    firstPartMs: request.firstPartMs,
    answer: claim === null ? null : answerOf(requestId, usdJsonNumber(charged.charge)),
  });
}

function finishReasonOf(chance: Chance, { usage, outputMax, model }: SeededRequest): string {
  if (model.capabilities?.embeddings === true) return "stop";
  if (usage.completionTokens >= outputMax) return "length";
  return chance.weighted([
    ["stop", 0.86],
    ["tool_calls", 0.137],
    ["content_filter", 0.003],
  ]);
}

const surfaceOf = ({ model, key }: SeededRequest): string => {
  if (model.capabilities?.embeddings === true) return "embeddings";
  if (model.model.startsWith("claude") && key.hours === "office") return "messages";
  return model.model.startsWith("gpt") && key.cached > 0.5 ? "responses" : FIRST_SURFACE;
};

const newClaim = (chance: Chance): Claim => ({
  idempotencyKey: `job-${chance.base62(18)}`,
  fingerprint: new Uint8Array(Buffer.from(chance.hex(64), "hex")),
});

/** The contents of a stored answer: its request, and what it cost. */
const answerOf = (requestId: string, cost: string): StoredAnswer => ({
  requestId,
  status: 200,
  headers: { "content-type": "application/json" },
  body: new TextEncoder().encode(
    `{"id":"chatcmpl-${requestId.slice(4)}","object":"chat.completion","choices":[],"gateway":{"request_id":"${requestId}","cost":{"customer_charge_usd":${cost}}}}`,
  ),
});

function refusedAs(code: RefusalCode): Noted {
  const { status } = new Refusal(code, code);
  return { status, code, details: undefined };
}

interface Noted {
  status: number;
  code: RefusalCode | null;
  details: Refusal["details"];
  asked?: Asked;
  replayOf?: string;
}

function note(on: Stage, played: Played, { status, code, details, asked, replayOf }: Noted): void {
  const { organizationId, keyId } = on.credentialOf(played.request.key);
  const replay = replayOf !== undefined;
  const entry: RequestLogEntry = {
    requestId: played.requestId,
    organizationId,
    keyId,
    kind: replay ? "replay" : "refused",
    atMs: on.clock.nowMs(),
    status,
    code,
    surface: surfaceOf(played.request),
    asked: asked ?? played.asked,
    details: details === undefined ? null : JSON.stringify(details),
    replayOf: replayOf ?? null,
    waitedMs: replay ? on.chance.whole(2, 40) : null,
    idempotencyKey: played.claim?.idempotencyKey ?? null,
  };
  on.requestLog.note(entry);
}
