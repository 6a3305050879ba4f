// COMMIT 1 as a decision: the order of money.md §7, first refusal wins. What is refused changes nothing; what is
// admitted moves the hold from available to held and freezes the release it is priced by.
import { subUsd, addUsd, type NanoUsd, ZERO_USD } from "../contract/money.ts";
import type { Refusal } from "../contract/refusals.ts";
import type { Books } from "./books.ts";
import { decideClaim } from "./decide-claim.ts";
import { decideKey } from "./decide-key.ts";
import type { Draft } from "./draft.ts";
import type { Admission, AdmissionPlan, AdmitOutcome, Claim } from "./ledger.ts";
import * as refuse from "./policy-refusals.ts";
import { type KeyMonthRow, type KeyRow, rowId } from "./rows.ts";

/** As `AdmitOutcome`, but a replay is named by its request; the store reads and decrypts the answer afterwards. */
export type AdmitDecision =
  | Exclude<AdmitOutcome, { kind: "replay" }>
  | { kind: "replay"; organizationId: string; requestId: string };

type Admitted = Extract<AdmitOutcome, { kind: "admitted" }>;
type Route = AdmissionPlan["routes"][number];

/** A slack on top of retention, for requests that end late, before a claim row may be purged. */
const PURGE_SLACK_MS = 86_400_000;

export function decideAdmission(draft: Draft, admission: Admission): AdmitDecision {
  const { credential, asked } = admission;
  const { organizationId, keyId } = credential;
  const known = decideKey(draft.rows.keys.get(rowId(organizationId, keyId)), credential); //          1, 2
  if (known.kind === "refused") return { ...known, authenticated: false };
  if (asked.kind === "refusal" && asked.stage === "shape") return refused(asked.refusal); //           3
  const books = draft.booksOf(organizationId);
  if (books === null) throw new Error(`organization ${organizationId} has a key but no balance`);
  const earlier = claimDecision(draft, admission, books.atMs); //                                     4
  if (earlier !== null) return earlier;
  if (asked.kind === "refusal") return refused(asked.refusal); //                                      5
  const { plan } = asked;
  const open = openRoutes(draft, plan, books.atMs);
  if ("refusal" in open) return refused(open.refusal);
  const month = draft.keyMonth(organizationId, keyId, books.atMs);
  const policy =
    scopeRefusal(known.key, plan) ?? //                                                                6
    entitlementRefusal(draft, organizationId, { plan, atMs: books.atMs }) ?? //                        7
    paidRefusal(books, plan) ?? //                                                                     8
    limitRefusal(known.key, month, books.atMs) ?? //                                                   9
    creditsRefusal(books, plan.hold); //                                                              10
  if (policy !== null) return refused(policy);
  return admit(draft, admission, { plan, routes: open.routes, books, month, key: known.key }); //     11
}

const refused = (refusal: Refusal): AdmitDecision => ({ kind: "refused", refusal, authenticated: true });

function claimDecision(draft: Draft, { credential, claim }: Admission, atMs: number): AdmitDecision | null {
  if (claim === null) return null;
  const { organizationId, keyId } = credential;
  const taken = draft.rows.claims.get(rowId(organizationId, keyId, claim.idempotencyKey));
  const decision = decideClaim(taken, claim, atMs);
  switch (decision.kind) {
    case "free":
      return null;
    case "refused":
      return refused(decision.refusal);
    case "running":
      return decision;
    case "replay":
      return { ...decision, organizationId };
  }
}

/** Drops the candidates that closed since the plan was made. None left: the code of the state nearest to live. */
function openRoutes(
  draft: Draft,
  plan: AdmissionPlan,
  atMs: number,
): { routes: Route[] } | { refusal: Refusal } {
  const states = plan.routes.map((route) => ({ route, state: routeState(draft, route, atMs) }));
  const routes = states.filter(({ state }) => state === "open").map(({ route }) => route);
  if (routes.length > 0) return { routes };
  const stale = states.find(({ state }) => state === "stale");
  const closed = draft.rows.routes.get((stale ?? states[0])?.route.route ?? "");
  return { refusal: stale === undefined ? refuse.routeDisabled(closed) : refuse.routeStale(closed) };
}

function routeState(draft: Draft, route: Route, atMs: number): "open" | "disabled" | "stale" {
  const row = draft.rows.routes.get(route.route);
  if (row === undefined) return "stale";
  if (row.disabled) return "disabled";
  const current = route.version === row.highestVersion && route.digest === row.digest;
  return current && atMs < row.expiresAtMs ? "open" : "stale";
}

function scopeRefusal(key: KeyRow, plan: AdmissionPlan): Refusal | null {
  return key.scope === plan.tier ? null : refuse.scopeNotPermitted(key.scope, plan.model);
}

function entitlementRefusal(
  draft: Draft,
  organizationId: string,
  asked: { plan: AdmissionPlan; atMs: number },
): Refusal | null {
  if (asked.plan.tier !== "research") return null;
  const held = draft.rows.entitlements.get(rowId(organizationId, asked.plan.model)) ?? [];
  const valid = held.some(
    ({ state, expiresAtMs }) => state === "active" && expiresAtMs !== null && asked.atMs < expiresAtMs,
  );
  return valid ? null : refuse.entitlementRequired(asked.plan.model);
}

function paidRefusal(books: Books, plan: AdmissionPlan): Refusal | null {
  return plan.requiresPaid && books.balance.purchased === 0n
    ? refuse.paidWorkspaceRequired(plan.model)
    : null;
}

/** At the limit or above: so at most the request that crosses it goes over. */
function limitRefusal(key: KeyRow, month: KeyMonthRow, atMs: number): Refusal | null {
  if (key.limit === null || month.spent + month.held < key.limit) return null;
  return refuse.keyLimitReached(key.limit, month, atMs);
}

function creditsRefusal(books: Books, hold: NanoUsd): Refusal | null {
  const covered = books.balance.available >= hold && books.balance.debt === 0n;
  return covered ? null : refuse.insufficientCredits(hold, books.balance);
}

interface Granted {
  plan: AdmissionPlan;
  routes: Route[];
  books: Books;
  month: KeyMonthRow;
  key: KeyRow;
}

function admit(draft: Draft, admission: Admission, granted: Granted): Admitted {
  const { plan, routes, books, month, key } = granted;
  if (plan.hold < 0n) throw new Error(`a hold of ${plan.hold} nano-USD`);
  books.moveForRequest("hold", plan.hold);
  month.held = addUsd(month.held, plan.hold);
  month.lastAdmittedAtMs = books.atMs;
  draft.changes.keyMonths.add(month);
  open(draft, admission, granted);
  if (admission.claim !== null)
    takeClaim(draft, admission, { claim: admission.claim, plan, atMs: books.atMs });
  return {
    kind: "admitted",
    admittedAtMs: books.atMs,
    openRoutes: routes.map(({ route }) => route),
    researchMode: plan.tier === "research",
    headroom: {
      available: books.balance.available,
      keyLimitRemaining: key.limit === null ? null : remaining(key.limit, month),
    },
  };
}

function remaining(limit: NanoUsd, month: KeyMonthRow): NanoUsd {
  const left = subUsd(limit, addUsd(month.spent, month.held));
  return left < 0n ? ZERO_USD : left;
}

function open(draft: Draft, admission: Admission, { plan, routes, books, month }: Granted): void {
  const [first] = routes;
  if (first === undefined) throw new Error("admitted without an open route");
  draft.changes.opened.push({
    organizationId: admission.credential.organizationId,
    requestId: admission.requestId,
    keyId: admission.credential.keyId,
    idempotencyKey: admission.claim?.idempotencyKey ?? null,
    model: plan.model,
    tier: plan.tier,
    stream: plan.stream,
    epoch: draft.context.epoch,
    admittedAtMs: books.atMs,
    deadlineAtMs: books.atMs + plan.timeoutMs,
    month: month.month,
    releaseDigest: first.digest,
    hold: plan.hold,
    promptBound: plan.promptBound,
    outputBound: plan.outputBound,
    openedTxn: draft.context.txn,
  });
}

function takeClaim(
  draft: Draft,
  { credential, requestId }: Admission,
  taken: { claim: Claim; plan: AdmissionPlan; atMs: number },
): void {
  const { organizationId, keyId } = credential;
  const { idempotencyKey, fingerprint } = taken.claim;
  const id = { organizationId, keyId, idempotencyKey, fingerprint, requestId };
  draft.rows.claims.set(rowId(organizationId, keyId, idempotencyKey), {
    ...id,
    state: "dispatched",
    answerUntilMs: null,
    claimUntilMs: null,
    answerKept: false,
  });
  const expiresAtMs = taken.atMs + taken.plan.timeoutMs + draft.context.retention.claimMs + PURGE_SLACK_MS;
  draft.changes.claimsTaken.push({ ...id, expiresAtMs });
}
