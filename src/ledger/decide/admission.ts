// COMMIT 1 as a decision: the order of money.md §7, where the first refusal wins. A refused request
// holds nothing; an admitted one moves its hold from available to held and freezes the release that
// prices it. Holds that the caller's gateway has counted meanwhile are lowered first.
import { DAY_MS } from "../../domain/durations.ts";
import { addUsd, type NanoUsd } from "../../domain/money.ts";
import { overloaded } from "../../domain/overloaded.ts";
import { Refusal } from "../../domain/refusals.ts";
import type { AccountPostings } from "../commit/account-postings.ts";
import { decideClaim } from "./claim.ts";
import { decideLowering } from "./lowering.ts";
import { decideKey } from "./key.ts";
import { limitRefusal, noteHold, spansNow } from "./key-limits.ts";
import { leftOf } from "../key-spans.ts";
import { readAllowedModels } from "../../domain/allowed-models.ts";
import type { BatchState } from "../commit/batch-state.ts";
import type { AdmissionRequest, AdmissionPlan, AdmissionDecision, Claim } from "../ledger.ts";
import * as refuse from "./policy-refusals.ts";
import { limitedBy, rateBlocks, standingsOf, takeRate, takesMuch } from "./rate.ts";
import { type KeyMonthRow, type KeyRow, type Limited, rowId } from "../rows.ts";
import { missingBalance } from "../unreadable.ts";

/** Like `AdmissionDecision`, but a replay is named by its request; the store reads and decrypts the answer afterwards. */
export type DecidedAdmission =
  | Exclude<AdmissionDecision, { kind: "replay" }>
  | { kind: "replay"; organizationId: string; requestId: string; admission: AdmissionRequest };

type Admitted = Extract<AdmissionDecision, { kind: "admitted" }>;
type Route = AdmissionPlan["routes"][number];

/** Added to the retention before a claim row may be purged, for requests that end late. */
const PURGE_SLACK_MS = DAY_MS;

/** The numbers are those of money.md §7. Throws `UnreadableRecord` for an organization without a balance. */
export function decideAdmission(batch: BatchState, admission: AdmissionRequest): DecidedAdmission {
  const { credential, asked } = admission;
  const { organizationId, keyId } = credential;
  const row = batch.rows.keys.get(rowId(organizationId, keyId));
  const known = decideKey(row, credential, batch.context.nowMs); //                                    1, 2
  if (known.kind === "refused") return { ...known, authenticated: false };
  if (asked.kind === "refusal" && asked.stage === "shape") return refused(asked.refusal); //           3
  const postings = batch.postingsOf(organizationId);
  if (postings === null) throw missingBalance(organizationId);
  const earlier = claimDecision(batch, admission, postings.atMs); //                                     4
  if (earlier !== null) return earlier;
  if (asked.kind === "refusal") return refused(asked.refusal); //                                      5
  const { plan } = asked;
  const routes = openRoutes(batch, plan, postings.atMs);
  if (routes instanceof Refusal) return refused(routes);
  for (const lowering of admission.lowerings ?? []) {
    if (lowering.organizationId !== organizationId) throw new Error("a hold of another organization");
    decideLowering(batch, lowering);
  }
  const month = batch.keyMonth(organizationId, keyId, postings.atMs);
  const rights =
    scopeRefusal(known.key, plan) ?? //                                                                6
    modelRefusal(known.key, plan) ?? //                                                                6
    entitlementRefusal(batch, organizationId, { plan, atMs: postings.atMs }) ?? //                        7
    paidRefusal(postings, plan) ?? //                                                                     8
    stoppedRefusal(batch, organizationId, plan); //                                                       8
  if (rights !== null) return refused(rights);
  const { maxOutputTokens } = known.key;
  if (maxOutputTokens !== null && plan.outputCeiling > maxOutputTokens)
    return { ...refused(refuse.outputLowered()), outputAtMost: maxOutputTokens };
  const limited = limitedBy(batch, { organizationId, keyId, model: plan.model }, postings.atMs);
  const spans = spansNow(batch, known.key, month, postings.atMs);
  const short =
    rateRefusal(limited, plan, batch.context.nowMs) ?? //                                                9
    limitRefusal(spans) ?? //                                                                            10
    creditsRefusal(postings, plan.hold); //                                                              11
  if (short !== null) return short;
  if (plan.countFirst && reservesMuch(limited, plan, batch.context.nowMs))
    return { ...refused(refuse.countFirst()), count: true };
  const { epoch } = batch.context;
  if (epoch === null) return refused(overloaded());
  return admit(batch, admission, { plan, routes, epoch, postings, month, key: known.key, limited }); // 12
}

type Refused = Extract<AdmissionDecision, { kind: "refused" }>;

const refused = (refusal: Refusal): Refused => ({ kind: "refused", refusal, authenticated: true });

function claimDecision(
  batch: BatchState,
  admission: AdmissionRequest,
  atMs: number,
): DecidedAdmission | null {
  const { credential, claim } = admission;
  if (claim === null) return null;
  const { organizationId, keyId } = credential;
  const taken = batch.rows.claims.get(rowId(organizationId, keyId, claim.idempotencyKey));
  const decision = decideClaim(taken, claim, atMs);
  switch (decision.kind) {
    case "free":
      return null;
    case "refused":
      return refused(decision.refusal);
    case "running":
      return decision;
    case "replay":
      return { ...decision, organizationId, admission };
  }
}

/** Drops candidates that closed since the plan was made. If none is left: the refusal of the state nearest to live. */
function openRoutes(
  batch: BatchState,
  { routes: asked }: AdmissionPlan,
  atMs: number,
): readonly Route[] | Refusal {
  const routes: Route[] = [];
  let stale: Route | undefined;
  for (const route of asked) {
    const state = routeState(batch, route, atMs);
    if (state === "open") routes.push(route);
    else if (state === "stale") stale ??= route;
  }
  if (routes.length > 0) return routes;
  const closed = batch.rows.routes.get((stale ?? asked[0])?.route ?? "");
  return stale === undefined ? refuse.routeDisabled(closed) : refuse.routeStale(closed);
}

function routeState(batch: BatchState, route: Route, atMs: number): "open" | "disabled" | "stale" {
  const row = batch.rows.routes.get(route.route);
  if (row === undefined) return "stale";
  if (row.disabled) return "disabled";
  const current = route.version === row.highestVersion && route.digest === row.digest;
  return current && atMs < row.expiresAtMs ? "open" : "stale";
}

function scopeRefusal(key: KeyRow, plan: AdmissionPlan): Refusal | null {
  return key.scope === plan.tier ? null : refuse.scopeNotPermitted(key.scope, plan.model);
}

/** An unreadable list allows nothing. */
function modelRefusal({ allowedModels }: KeyRow, { model }: AdmissionPlan): Refusal | null {
  if (allowedModels === null) return null;
  const allowed = readAllowedModels(allowedModels);
  return allowed.includes(model) ? null : refuse.modelNotAllowed(model, allowed);
}

function entitlementRefusal(
  batch: BatchState,
  organizationId: string,
  asked: { plan: AdmissionPlan; atMs: number },
): Refusal | null {
  if (asked.plan.tier !== "research") return null;
  const held = batch.rows.entitlements.get(rowId(organizationId, asked.plan.model)) ?? [];
  for (const { state, expiresAtMs } of held)
    if (state === "active" && expiresAtMs !== null && asked.atMs < expiresAtMs) return null;
  return refuse.entitlementRequired(asked.plan.model);
}

function paidRefusal(postings: AccountPostings, plan: AdmissionPlan): Refusal | null {
  return plan.requiresPaid && postings.balance.purchased === 0n
    ? refuse.paidWorkspaceRequired(plan.model)
    : null;
}

/** A request that cannot cost anything moves no money, whatever the state of the books. */
function stoppedRefusal(batch: BatchState, organizationId: string, { hold }: AdmissionPlan): Refusal | null {
  return hold > 0n && batch.context.isStopped(organizationId) ? refuse.organizationStopped() : null;
}

const tokensOf = ({ promptBound, outputBound }: AdmissionPlan): number => promptBound + outputBound;

function rateRefusal(limited: readonly Limited[], plan: AdmissionPlan, nowMs: number): Refused | null {
  const { bounded = false } = plan;
  const blocked = rateBlocks(limited, { tokens: tokensOf(plan), bounded }, nowMs);
  if (blocked === null) return null;
  const { refusal, short } = blocked;
  return { ...refused(refusal), rates: standingsOf(limited, nowMs), ...(short !== undefined && { short }) };
}

const reservesMuch = (
  limited: readonly Limited[],
  { promptBound, outputBound }: AdmissionPlan,
  nowMs: number,
): boolean => takesMuch(limited, { prompt: promptBound, output: outputBound }, nowMs);

function creditsRefusal({ balance }: AccountPostings, required: NanoUsd): Refused | null {
  const { available, held, debt } = balance;
  if (available >= required && debt === 0n) return null;
  const short = { of: "credits", required, available, held, debt } as const;
  return { ...refused(refuse.insufficientCredits(required, balance)), short };
}

interface Granted {
  plan: AdmissionPlan;
  routes: readonly Route[];
  /** The owner's epoch. */
  epoch: number;
  postings: AccountPostings;
  month: KeyMonthRow;
  key: KeyRow;
  limited: readonly Limited[];
}

function admit(batch: BatchState, admission: AdmissionRequest, granted: Granted): Admitted {
  const { plan, routes, postings, month, key, limited } = granted;
  if (plan.hold < 0n) throw new Error(`a hold of ${plan.hold} nano-USD`);
  postings.moveForRequest("hold", plan.hold);
  postings.markAdmitted();
  month.held = addUsd(month.held, plan.hold);
  month.lastAdmittedAtMs = postings.atMs;
  batch.changes.keyMonths.add(month);
  takeRate(batch, limited, { tokens: tokensOf(plan), postings });
  open(batch, admission, granted);
  noteHold(batch, key, admission.requestId);
  if (admission.claim !== null)
    takeClaim(batch, admission, { claim: admission.claim, plan, atMs: postings.atMs });
  return {
    kind: "admitted",
    admittedAtMs: postings.atMs,
    openRoutes: routes.map(nameOf),
    researchMode: plan.tier === "research",
    headroom: {
      available: postings.balance.available,
      keyLimitRemaining: leftOf(spansNow(batch, key, month, postings.atMs)),
    },
    rates: standingsOf(limited, batch.context.nowMs),
  };
}

const nameOf = ({ route }: Route): string => route;

function open(
  batch: BatchState,
  admission: AdmissionRequest,
  { plan, routes, epoch, postings, month }: Granted,
): void {
  const [first] = routes;
  if (first === undefined) throw new Error("admitted without an open route");
  batch.changes.opened.push({
    organizationId: admission.credential.organizationId,
    requestId: admission.requestId,
    keyId: admission.credential.keyId,
    idempotencyKey: admission.claim?.idempotencyKey ?? null,
    model: plan.model,
    tier: plan.tier,
    stream: plan.stream,
    epoch,
    admittedAtMs: postings.atMs,
    deadlineAtMs: postings.atMs + plan.timeoutMs,
    month: month.month,
    releaseDigest: first.digest,
    hold: plan.hold,
    promptBound: plan.promptBound,
    outputBound: plan.outputBound,
    openedTxn: batch.context.txn,
    surface: plan.surface,
  });
}

function takeClaim(
  batch: BatchState,
  { credential, requestId }: AdmissionRequest,
  taken: { claim: Claim; plan: AdmissionPlan; atMs: number },
): void {
  const { organizationId, keyId } = credential;
  const { idempotencyKey, fingerprint } = taken.claim;
  const id = { organizationId, keyId, idempotencyKey, fingerprint, requestId };
  batch.rows.claims.set(rowId(organizationId, keyId, idempotencyKey), {
    ...id,
    state: "dispatched",
    answerUntilMs: null,
    claimUntilMs: null,
    answerKept: false,
    quarantined: false,
  });
  const expiresAtMs = taken.atMs + taken.plan.timeoutMs + batch.context.retention.claimMs + PURGE_SLACK_MS;
  batch.changes.claimsTaken.push({ ...id, expiresAtMs });
}
