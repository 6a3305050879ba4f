// Builds what COMMIT 1 decides on: what a prepared request asks of the ledger, or the refusal that it met before.
import type { Release } from "../domain/release.ts";
import type { AdmissionPlan, AdmissionRequest } from "../ledger/ledger.ts";
import type { Quote } from "../pricing/quote.ts";
import type { PreparedRequest, PreparePorts } from "./prepared-request.ts";
import { isCountable } from "./running-holds.ts";

/** `countFirst`: whether long prompts are counted before they reserve much of a token limit. */
interface PlanPorts extends Pick<PreparePorts, "timeouts"> {
  countFirst?: boolean;
}

/** The argument of the ledger's `admit` and `preview`. */
export function admissionRequestOf(
  ports: PlanPorts,
  prepared: PreparedRequest,
  by: Pick<AdmissionRequest, "requestId" | "credential" | "lowerings">,
): AdmissionRequest {
  return { ...by, claim: claimOf(prepared), asked: wantedOf(ports, prepared) };
}

/** Null if the caller sent no key, or nothing was read that the key could stand for. */
export const claimOf = ({ fingerprint, idempotency }: PreparedRequest): AdmissionRequest["claim"] =>
  fingerprint === null ? null : { idempotencyKey: idempotency.value, fingerprint };

/** `asked` of an admission. */
export function wantedOf(ports: PlanPorts, prepared: PreparedRequest): AdmissionRequest["asked"] {
  const { wanted } = prepared;
  return "refusal" in wanted
    ? { kind: "refusal", ...wanted }
    : { kind: "plan", plan: planOf(ports, prepared, wanted) };
}

function planOf(
  { timeouts, countFirst = false }: PlanPorts,
  prepared: PreparedRequest,
  quoted: Quote,
): AdmissionPlan {
  const { request } = prepared;
  const [first] = quoted.releases;
  if (request === null || first === undefined) throw new Error("a quote without a request");
  const bounded = !prepared.counted && prepared.candidates.some(isCountable);
  return {
    model: request.model,
    tier: first.tier,
    requiresPaid: quoted.releases.some(isForPaying),
    routes: quoted.releases,
    hold: quoted.hold,
    promptBound: quoted.promptTokensMax,
    bounded,
    countFirst: countFirst && bounded && prepared.boundStands === undefined,
    outputBound: quoted.outputCeiling * request.n,
    outputCeiling: quoted.outputCeiling,
    stream: request.stream,
    surface: prepared.surface,
    timeoutMs: request.stream ? timeouts.streamMs : timeouts.answerMs,
  };
}

const isForPaying = ({ requiresPaid }: Release): boolean => requiresPaid;
