// Reads balances, entries, requests and stored answers of a PostgreSQL store for the audit: page after page, in one
// snapshot, so that memory stays small whatever the store holds (money.md §5).
import type { Evidence } from "../../../domain/gateway-object.ts";
import type { Release } from "../../../domain/release.ts";
import { ChainAudit } from "../chain.ts";
import { auditAnswer, auditCharge, type AuditedRequest, auditTimes } from "../requests.ts";
import type { Findings } from "../findings.ts";
import {
  bytes,
  type Cell,
  flag,
  int,
  intOrNull,
  money,
  moneyOrNull,
  text,
  textOrNull,
} from "../../postgres/cell.ts";
import { type Asking, askOnce } from "../../postgres/query.ts";
import { findRelease } from "../../frozen-release.ts";
import { runOnPostgres } from "../../../store/postgres-sql.ts";
import { attemptsIn, UnreadableRecord } from "../../unreadable.ts";
import type { Account, EntryKind, EntryRow } from "../../rows.ts";

const PAGE = 1000;
/** Answers may be as large as 8 MiB. */
const ANSWERS = 20;

export async function auditChains(on: Asking, findings: Findings): Promise<void> {
  const balances = await askOnce(
    on,
    `SELECT org_id, available, held, debt, purchased, granted, spent, version, head_hash
     FROM org_balance WHERE slot = 0 ORDER BY org_id`,
  );
  for (const balance of balances) await auditOrganization(on, balance, findings);
}

async function auditOrganization(on: Asking, balance: Cell[], findings: Findings): Promise<void> {
  const organizationId = text(balance[0]);
  const chain = new ChainAudit(organizationId, findings);
  for (let after = 0, page: Cell[][] | null = null; page === null || page.length === PAGE; ) {
    page = await askOnce(
      on,
      `SELECT version, txn, kind, debit, credit, amount, available_before, available_after, held_before, held_after,
         requests, reference, at, prev_hash, hash, slot
       FROM ledger_entry WHERE org_id = $1 AND slot = 0 AND version > $2 ORDER BY version LIMIT ${PAGE}`,
      [organizationId, after],
    );
    for (const row of page) {
      chain.add(entryOf(organizationId, row));
      after = int(row[0]);
    }
  }
  chain.end({
    available: money(balance[1]),
    held: money(balance[2]),
    debt: money(balance[3]),
    purchased: money(balance[4]),
    granted: money(balance[5]),
    spent: money(balance[6]),
    version: int(balance[7]),
    headHash: bytes(balance[8]),
  });
}

export async function auditRequests(
  on: Asking,
  findings: Findings,
  { dataKey, nowMs }: { dataKey: Uint8Array; nowMs: number },
): Promise<void> {
  const releaseOf = releases(on);
  for await (const row of pages(on, PAGE, REQUESTS)) {
    const request = auditedRequestOf(row);
    const release = request.state === "settled" ? await releaseOf(request.releaseDigest) : null;
    auditCharge(findings, request, release);
    auditTimes(findings, request, nowMs);
  }
  for await (const [organizationId, requestId, sealed, charge, state] of pages(on, ANSWERS, RESULTS)) {
    const answer = {
      organizationId: text(organizationId),
      requestId: text(requestId),
      sealed: bytes(sealed),
      charge: state === "settled" ? money(charge) : null,
    };
    auditAnswer(findings, answer, dataKey);
  }
}

/** Both begin with organization and request, their key; `$1` and `$2` are those of the last row before. */
const REQUESTS = `SELECT org_id, request_id, state, hold, r.charge, variance, minimum_applied, evidence, prompt_tokens,
    completion_tokens, cached_tokens, release_digest, admitted_at, deadline_at, attempts,
    q.decided_at IS NULL AND q.since IS NOT NULL, q.charge
  FROM request r LEFT JOIN quarantine q USING (org_id, request_id) WHERE (org_id, request_id) > ($1, $2) ORDER BY org_id, request_id`;
const RESULTS = `SELECT x.org_id, x.request_id, x.sealed, r.charge, r.state
  FROM result x JOIN request r ON r.org_id = x.org_id AND r.request_id = x.request_id
  WHERE (x.org_id, x.request_id) > ($1, $2) ORDER BY x.org_id, x.request_id`;

async function* pages(on: Asking, size: number, select: string): AsyncGenerator<Cell[]> {
  let last: [string, string] = ["", ""];
  for (;;) {
    const page = await askOnce(on, `${select} LIMIT ${size}`, last);
    yield* page;
    const end = page.at(-1);
    if (end === undefined || page.length < size) return;
    last = [text(end[0]), text(end[1])];
  }
}

/** Frozen releases by digest, each read once. */
function releases(on: Asking): (digest: string) => Promise<Release | null> {
  const known = new Map<string, Promise<Release | null>>();
  return (digest) => {
    const release =
      known.get(digest) ??
      runOnPostgres(on, findRelease(digest)).catch((error: unknown) => {
        if (error instanceof UnreadableRecord) return null; // "its frozen release: none"
        throw error;
      });
    known.set(digest, release);
    return release;
  };
}

function auditedRequestOf(row: Cell[]): AuditedRequest {
  const state = text(row[2]);
  return {
    organizationId: text(row[0]),
    requestId: text(row[1]),
    state: state === "settled" || state === "released" ? state : "unfinished",
    hold: money(row[3]),
    charge: money(row[4]),
    variance: money(row[5]),
    minimumApplied: flag(row[6]),
    evidence: textOrNull(row[7]) as Evidence | null,
    promptTokens: intOrNull(row[8]),
    completionTokens: intOrNull(row[9]),
    cachedTokens: intOrNull(row[10]),
    releaseDigest: text(row[11]),
    admittedAtMs: int(row[12]),
    deadlineAtMs: int(row[13]),
    attempts: attemptsIn(text(row[14])),
    quarantined: flag(row[15]) && state !== "settled" && state !== "released",
    chargedByHand: moneyOrNull(row[16]),
  };
}

function entryOf(organizationId: string, row: Cell[]): EntryRow {
  return {
    organizationId,
    version: int(row[0]),
    txn: int(row[1]),
    kind: text(row[2]) as EntryKind,
    debit: text(row[3]) as Account,
    credit: text(row[4]) as Account,
    amount: money(row[5]),
    availableBefore: money(row[6]),
    availableAfter: money(row[7]),
    heldBefore: money(row[8]),
    heldAfter: money(row[9]),
    requests: int(row[10]),
    reference: textOrNull(row[11]),
    atMs: int(row[12]),
    prevHash: bytes(row[13]),
    hash: bytes(row[14]),
    slot: int(row[15]),
  };
}
