// Builds what COMMIT 1 decides on: what a prepared request asks of the ledger, or the refusal that it met before.
import type { Release } from "../domain/release.ts";
import type { AdmissionPlan, AdmissionRequest } from "../ledger/ledger.ts";
import type { Quote } from "../pricing/quote.ts";
import type { PreparedRequest, PreparePorts } from "./prepared-request.ts";

type Times = Pick<PreparePorts, "timeouts">;

/** The argument of the ledger's `admit` and `preview`. */
export function admissionRequestOf(
  ports: Times,
  prepared: PreparedRequest,
  by: Pick<AdmissionRequest, "requestId" | "credential" | "lowerings">,
): AdmissionRequest {
  return { ...by, claim: claimOf(prepared), asked: wantedOf(ports, prepared) };
}

/** Null if the caller sent no key, or nothing was read that the key could stand for. */
export const claimOf = ({ fingerprint, idempotency }: PreparedRequest): AdmissionRequest["claim"] =>
  fingerprint === null ? null : { idempotencyKey: idempotency.value, fingerprint };

/** `asked` of an admission. */
export function wantedOf(ports: Times, prepared: PreparedRequest): AdmissionRequest["asked"] {
  const { wanted } = prepared;
  return "refusal" in wanted
    ? { kind: "refusal", ...wanted }
    : { kind: "plan", plan: planOf(ports, prepared, wanted) };
}

function planOf({ timeouts }: Times, prepared: PreparedRequest, quoted: Quote): AdmissionPlan {
  const { request } = prepared;
  const [first] = quoted.releases;
  if (request === null || first === undefined) throw new Error("a quote without a request");
  return {
    model: request.model,
    tier: first.tier,
    requiresPaid: quoted.releases.some(isForPaying),
    routes: quoted.releases,
    hold: quoted.hold,
    promptBound: quoted.promptTokensMax,
    outputBound: quoted.outputCeiling * request.n,
    outputCeiling: quoted.outputCeiling,
    stream: request.stream,
    surface: prepared.surface,
    timeoutMs: request.stream ? timeouts.streamMs : timeouts.answerMs,
  };
}

const isForPaying = ({ requiresPaid }: Release): boolean => requiresPaid;
