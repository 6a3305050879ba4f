// Checks every request by itself: its charge is within its hold and matches its tokens and frozen release, attempts come
// after admission, the stored answer has its cost, nothing runs past its time (I7, I8, I9, I11, I13 of money.md §5).
import { HOUR_MS } from "../../domain/durations.ts";
import type { Evidence } from "../../domain/gateway-object.ts";
import { type NanoUsd, usdJsonNumber } from "../../domain/money.ts";
import { printTime } from "../../domain/print.ts";
import type { Release } from "../../domain/release.ts";
import { type Charge, chargeOf } from "../../pricing/charge.ts";
import { openAnswer } from "../answer-vault.ts";
import { bytes, type Cell, flag, money, text } from "../cell.ts";
import type { KnownClasses } from "../../domain/token-classes.ts";
import { type Loaded, widthOf } from "../column-loads.ts";
import { TO_VERIFY } from "../columns.ts";
import { lastTold } from "../last-told.ts";
import type { AttemptRecord } from "../records.ts";
import { attemptsIn } from "../unreadable.ts";
import { legibleClasses } from "../usage-classes.ts";
import type { Findings } from "./findings.ts";

/** A request may outlive its deadline while its owner tries to end it, and a provider is asked (money.md §9). */
const LATE_AT_MOST_MS = 15 * 60_000 + 60_000;
/** Admission stamps are lifted to the organization's newest if the clock was set back (money.md §2). */
const CLOCK_SLACK_MS = HOUR_MS;

export interface RequestToVerify
  extends Omit<Loaded<typeof TO_VERIFY>, "state" | "evidence" | "attempts" | "usageClasses"> {
  state: "unfinished" | "settled" | "released";
  evidence: Evidence | null;
  /** Held until an operator decides; only its hold is checked. */
  quarantined: boolean;
  /** What an operator charged; null if it ended by itself. */
  chargedByHand: NanoUsd | null;
  /** The classes of its tokens; null if unreadable. */
  classes: KnownClasses | null;
  /** Null if unreadable. */
  attempts: Pick<AttemptRecord, "startedAtMs" | "told">[] | null;
}

const WIDTH = widthOf(TO_VERIFY);

/** Takes the cells of `TO_VERIFY`, then whether it waits for an operator, and what one charged. */
export function requestToVerify(cells: readonly Cell[]): RequestToVerify {
  const { state, evidence, attempts, usageClasses, ...row } = TO_VERIFY.row(cells);
  const ended = state === "settled" || state === "released";
  const [waits, byHand = null] = cells.slice(WIDTH);
  return {
    ...row,
    state: ended ? state : "unfinished",
    evidence: evidence as Evidence | null,
    classes: legibleClasses(usageClasses),
    attempts: attemptsIn(attempts),
    quarantined: flag(waits) && !ended,
    chargedByHand: byHand === null ? null : money(byHand),
  };
}

/** `release` is the frozen one, by its digest; null if it does not exist. */
export function checkCharge(findings: Findings, request: RequestToVerify, release: Release | null): void {
  const { organizationId, requestId, hold, charge, evidence } = request;
  const about = { organizationId, requestId };
  findings.checkedRows("I7 0 <= charge <= hold", 1);
  if (charge < 0n || charge > hold)
    findings.violated("I7 0 <= charge <= hold", { ...about, expected: `0..${hold}`, found: charge });
  if (request.state !== "settled") {
    findings.equal("I7 only settled requests are charged", { ...about, expected: 0n, found: charge });
    return;
  }
  if (evidence === "operator") {
    findings.equal("I8 charge by hand is on record", {
      ...about,
      expected: request.chargedByHand ?? "an operator's decision",
      found: charge,
    });
    return;
  }
  checkBounds(findings, request);
  if (release === null || evidence === null) {
    findings.violated("I8 charge recomputed", { ...about, expected: "its frozen release", found: "none" });
    return;
  }
  findings.equal("I8 model and tier are its release's", {
    ...about,
    expected: `${release.model} ${release.tier}`,
    found: `${request.model} ${request.tier}`,
  });
  const usage = {
    promptTokens: request.promptTokens ?? 0,
    completionTokens: request.completionTokens ?? 0,
    cachedTokens: request.cachedTokens,
    ...request.classes,
  };
  const told = lastTold(request.attempts ?? []);
  const again = request.classes && recomputed({ usage, told, price: release.price, hold, evidence });
  if (again === null) {
    findings.violated("I8 charge recomputed", { ...about, expected: "token counts", found: "none" });
    return;
  }
  findings.equal("I8 charge recomputed", { ...about, expected: again.charge, found: charge });
  findings.equal("I8 variance recomputed", { ...about, expected: again.variance, found: request.variance });
  findings.equal("I8 minimum recomputed", {
    ...about,
    expected: String(again.minimumApplied),
    found: String(request.minimumApplied),
  });
}

/**
 * The admitting gateway limits what a provider reported to the quoted bounds (money.md §6). Older programs, which named
 * no surface, did not; and a stream past its maximum is charged for what it delivered if its owner disappeared before
 * cutting it.
 */
function checkBounds(findings: Findings, request: RequestToVerify): void {
  const { organizationId, requestId, promptTokens, completionTokens, promptBound, outputBound } = request;
  if (request.evidence !== "provider_usage" || request.surface === null) return;
  findings.checkedRows("I7 tokens within their bounds", 1);
  const [prompt, completion] = [promptTokens ?? 0, completionTokens ?? 0];
  if (prompt <= promptBound && completion <= outputBound) return;
  findings.violated("I7 tokens within their bounds", {
    organizationId,
    requestId,
    expected: `at most ${promptBound} and ${outputBound}`,
    found: `${prompt} and ${completion}`,
  });
}

/** Returns null for invalid counts. */
function recomputed(input: Parameters<typeof chargeOf>[0]): Charge | null {
  try {
    return chargeOf(input);
  } catch {
    return null; // itself a violation
  }
}

/** I4, I11 and I13: its month, its deadline as of `nowMs`, and that no attempt began before its admission. */
export function checkTimes(findings: Findings, request: RequestToVerify, nowMs: number): void {
  const { organizationId, requestId, admittedAtMs, deadlineAtMs } = request;
  const about = { organizationId, requestId };
  const month = printTime(admittedAtMs).slice(0, 7);
  findings.equal("I4 month is that of its admission", { ...about, expected: month, found: request.month });
  if (request.quarantined) return;
  if (request.state === "unfinished") {
    findings.checkedRows("I13 nothing runs past its time", 1);
    if (nowMs > deadlineAtMs + LATE_AT_MOST_MS)
      findings.violated("I13 nothing runs past its time", {
        ...about,
        expected: `ended by ${deadlineAtMs + LATE_AT_MOST_MS}`,
        found: nowMs,
      });
  }
  if (request.attempts === null) {
    findings.violated("I11 attempts are readable", { ...about, expected: "a list", found: "unreadable" });
    return;
  }
  for (const { startedAtMs } of request.attempts) {
    findings.checkedRows("I11 attempts after admission", 1);
    if (startedAtMs + CLOCK_SLACK_MS < admittedAtMs)
      findings.violated("I11 attempts after admission", {
        ...about,
        expected: `from ${admittedAtMs}`,
        found: startedAtMs,
      });
  }
}

const CHARGE_IN_ANSWER = /"customer_charge_usd":([0-9.e+-]+)/g;

/** A kept answer as stored, sealed, with the charge of its request. */
interface AnswerToVerify {
  organizationId: string;
  requestId: string;
  sealed: Uint8Array;
  /** Null if the request was not settled. */
  charge: NanoUsd | null;
}

/** Takes a row of organization, request, sealed answer, charge and state, as both stores select them. */
export const answerToVerify = ([
  organizationId,
  requestId,
  sealed,
  charge,
  state,
]: readonly Cell[]): AnswerToVerify => ({
  organizationId: text(organizationId),
  requestId: text(requestId),
  sealed: bytes(sealed),
  charge: state === "settled" ? money(charge) : null,
});

/** The last cost in the stored bytes is what the client was told. */
export function checkAnswer(findings: Findings, answer: AnswerToVerify, dataKey: Uint8Array): void {
  const { organizationId, requestId, charge } = answer;
  findings.checkedRows("I9 cost in the stored answer", 1);
  const told = chargeTold(answer, dataKey);
  const booked = charge === null ? null : usdJsonNumber(charge);
  if (told !== booked && !(told === "0" && booked === null))
    findings.violated("I9 cost in the stored answer", {
      organizationId,
      requestId,
      expected: booked ?? "none",
      found: told ?? "none",
    });
}

function chargeTold({ sealed, ...place }: AnswerToVerify, dataKey: Uint8Array): string | null {
  try {
    const body = Buffer.from(openAnswer(dataKey, place, sealed).body).toString();
    return [...body.matchAll(CHARGE_IN_ANSWER)].at(-1)?.[1] ?? null;
  } catch {
    return "unreadable"; // itself a violation
  }
}

/** Returns null for a release that cannot be read, which is itself a violation. */
export function releaseOr<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null; // "its frozen release: none"
  }
}
