// Every request by itself: its charge within its hold and recomputed from its tokens and frozen release, attempts after
// admission, the stored answer's cost, nothing running past its time (I7, I8, I9, I11, I13 of money.md §5).
import type { Database } from "bun:sqlite";
import type { Evidence } from "../contract/gateway-object.ts";
import { nanoUsd, usdJsonNumber } from "../contract/money.ts";
import type { Release } from "../contract/release.ts";
import { chargeOf } from "../pricing/charge.ts";
import { openAnswer } from "./answer-vault.ts";
import type { Findings } from "./findings.ts";
import { bytes, type Cell, flag, int, intOrNull, money, text } from "./sqlite-cell.ts";
import { parseRelease } from "./sqlite-releases.ts";

/** A request may outlive its deadline while its owner tries to end it, and a provider is asked (money.md §9). */
const LATE_AT_MOST_MS = 15 * 60_000 + 60_000;

export interface RequestAudit {
  dataKey: Uint8Array;
  nowMs: number;
}

export function auditRequests(
  database: Database,
  findings: Findings,
  { dataKey, nowMs }: RequestAudit,
): void {
  const releaseOf = releases(database);
  const rows = database
    .query(
      `SELECT org_id, request_id, state, hold, charge, variance, minimum_applied, evidence, prompt_tokens,
         completion_tokens, cached_tokens, release_digest, admitted_at, deadline_at, attempts FROM request`,
    )
    .iterate() as unknown as Iterable<Record<string, Cell>>;
  for (const record of rows) {
    const row = Object.values(record);
    checkCharge(findings, row, releaseOf);
    checkTimes(findings, row, nowMs);
  }
  checkAnswers(database, findings, dataKey);
}

/** Frozen releases by digest, each read once. */
function releases(database: Database): (digest: string) => Release | null {
  const known = new Map<string, Release | null>();
  return (digest) => {
    let release = known.get(digest);
    if (release === undefined) {
      const found = database.query("SELECT manifest FROM route_release WHERE digest = ?1").values(digest)[0];
      release = found === undefined ? null : parseRelease(found[0] as string);
      known.set(digest, release);
    }
    return release;
  };
}

function checkCharge(findings: Findings, row: Cell[], releaseOf: (digest: string) => Release | null): void {
  const about = { organizationId: text(row[0]), requestId: text(row[1]) };
  const [hold, charge] = [money(row[3]), money(row[4])];
  findings.checkedRows("I7 0 <= charge <= hold", 1);
  if (charge < 0n || charge > hold)
    findings.violated("I7 0 <= charge <= hold", { ...about, expected: `0..${hold}`, found: charge });
  if (text(row[2]) !== "settled") {
    findings.equal("I7 only settled requests are charged", { ...about, expected: 0n, found: charge });
    return;
  }
  const release = releaseOf(text(row[11]));
  if (release === null) {
    findings.violated("I8 charge recomputed", { ...about, expected: "its frozen release", found: "none" });
    return;
  }
  const usage = {
    promptTokens: int(row[8]),
    completionTokens: int(row[9]),
    cachedTokens: intOrNull(row[10]),
  };
  const again = chargeOf({ usage, price: release.price, hold, evidence: row[7] as Evidence });
  findings.equal("I8 charge recomputed", { ...about, expected: again.charge, found: charge });
  findings.equal("I8 variance recomputed", { ...about, expected: again.variance, found: money(row[5]) });
  findings.equal("I8 minimum recomputed", {
    ...about,
    expected: String(again.minimumApplied),
    found: String(flag(row[6])),
  });
}

function checkTimes(findings: Findings, row: Cell[], nowMs: number): void {
  const about = { organizationId: text(row[0]), requestId: text(row[1]) };
  const [admittedAtMs, deadlineAtMs] = [int(row[12]), int(row[13])];
  if (text(row[2]) === "dispatched") {
    findings.checkedRows("I13 nothing runs past its time", 1);
    if (nowMs > deadlineAtMs + LATE_AT_MOST_MS)
      findings.violated("I13 nothing runs past its time", {
        ...about,
        expected: `ended by ${deadlineAtMs + LATE_AT_MOST_MS}`,
        found: nowMs,
      });
  }
  for (const { startedAtMs } of JSON.parse(text(row[14])) as { startedAtMs: number }[]) {
    findings.checkedRows("I11 attempts after admission", 1);
    if (startedAtMs + CLOCK_SLACK_MS < admittedAtMs)
      findings.violated("I11 attempts after admission", {
        ...about,
        expected: `from ${admittedAtMs}`,
        found: startedAtMs,
      });
  }
}

/** Admission stamps are lifted to the organization's newest when the clock was set back (money.md §2). */
const CLOCK_SLACK_MS = 3_600_000;

const CHARGE_IN_ANSWER = /"customer_charge_usd":([0-9.e+-]+)/g;

/** The last cost in the stored bytes is what the client was told. */
function checkAnswers(database: Database, findings: Findings, dataKey: Uint8Array): void {
  const rows = database
    .query(
      `SELECT result.org_id, result.request_id, result.sealed, request.charge, request.state FROM result
       JOIN request ON request.org_id = result.org_id AND request.request_id = result.request_id`,
    )
    .iterate() as unknown as Iterable<Record<string, Cell>>;
  for (const record of rows) {
    const row = Object.values(record);
    const place = { organizationId: text(row[0]), requestId: text(row[1]) };
    findings.checkedRows("I9 cost in the stored answer", 1);
    const told = chargeTold(dataKey, place, bytes(row[2]));
    const booked = text(row[4]) === "settled" ? usdJsonNumber(nanoUsd(row[3] as bigint)) : null;
    if (told !== booked && !(told === "0" && booked === null))
      findings.violated("I9 cost in the stored answer", {
        ...place,
        expected: booked ?? "none",
        found: told ?? "none",
      });
  }
}

function chargeTold(
  dataKey: Uint8Array,
  place: { organizationId: string; requestId: string },
  sealed: Uint8Array,
): string | null {
  try {
    const body = Buffer.from(openAnswer(dataKey, place, sealed).body).toString();
    return [...body.matchAll(CHARGE_IN_ANSWER)].at(-1)?.[1] ?? null;
  } catch {
    return "unreadable"; // a violation in itself
  }
}
