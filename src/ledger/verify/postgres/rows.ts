// Reads balances, entries, requests and stored answers of a PostgreSQL store for its verification:
// page by page in one snapshot, so that memory stays small whatever the store holds (money.md §5).
import type { Release } from "../../../domain/release.ts";
import { ChainVerification, entryOf } from "../chain.ts";
import { answerToVerify, checkAnswer, checkCharge, requestToVerify, checkTimes } from "../requests.ts";
import type { Findings } from "../findings.ts";
import { type Cell, text } from "../../cell.ts";
import { selected } from "../../column-loads.ts";
import { TO_VERIFY, ENTRY, LOAD } from "../../columns.ts";
import { type Asking, askOnce } from "../../postgres/query.ts";
import { findRelease } from "../../frozen-release.ts";
import { runOnPostgres } from "../../../store/postgres-sql.ts";
import type { BalanceRow } from "../../rows.ts";
import { UnreadableRecord } from "../../unreadable.ts";

const PAGE = 1000;
/** Few per page, as an answer may have up to 8 MiB. */
const ANSWERS = 20;

/** I1, I2, I5 and I12, organization by organization. */
export async function checkChains(on: Asking, findings: Findings): Promise<void> {
  const balances = await askOnce(
    on,
    `SELECT ${selected(LOAD.balance, "b")} FROM org_balance b WHERE b.slot = 0 ORDER BY b.org_id`,
  );
  for (const balance of balances) await checkOrganization(on, LOAD.balance.row(balance), findings);
}

async function checkOrganization(on: Asking, balance: BalanceRow, findings: Findings): Promise<void> {
  const { organizationId } = balance;
  const chain = new ChainVerification(organizationId, findings);
  for (let after = 0, page: Cell[][] | null = null; page === null || page.length === PAGE; ) {
    page = await askOnce(
      on,
      `SELECT ${selected(ENTRY, "e")} FROM ledger_entry e
       WHERE e.org_id = $1 AND e.slot = 0 AND e.version > $2 ORDER BY e.version LIMIT ${PAGE}`,
      [organizationId, after],
    );
    for (const cells of page) {
      const entry = entryOf(cells);
      chain.add(entry);
      after = entry.version;
    }
  }
  chain.end(balance);
}

/** I4, I7 to I9, I11 and I13 of every request, then the stored answers. */
export async function checkRequests(
  on: Asking,
  findings: Findings,
  { dataKey, nowMs }: { dataKey: Uint8Array; nowMs: number },
): Promise<void> {
  const releaseOf = releases(on);
  for await (const row of pages(on, PAGE, REQUESTS)) {
    const request = requestToVerify(row);
    const release = request.state === "settled" ? await releaseOf(request.releaseDigest) : null;
    checkCharge(findings, request, release);
    checkTimes(findings, request, nowMs);
  }
  for await (const row of pages(on, ANSWERS, RESULTS)) checkAnswer(findings, answerToVerify(row), dataKey);
}

/** `$1` and `$2` are the key, organization and request, of the previous row. The page is determined before anything is joined. */
const REQUESTS = pageOf(
  "request",
  `SELECT ${selected(TO_VERIFY, "p")}, q.decided_at IS NULL AND q.since IS NOT NULL, q.charge
   FROM page p LEFT JOIN quarantine q ON q.org_id = p.org_id AND q.request_id = p.request_id`,
);
/** Includes answers whose request is gone. */
const RESULTS = pageOf(
  "result",
  `SELECT p.org_id, p.request_id, p.sealed, r.charge, r.state
   FROM page p LEFT JOIN request r ON r.org_id = p.org_id AND r.request_id = p.request_id`,
);

/** Materializes the page: a join sorted later may begin at the first row for every page, quadratic in the rows. */
function pageOf(table: "request" | "result", read: string): string {
  return `WITH page AS MATERIALIZED (
      SELECT * FROM ${table} WHERE (org_id, request_id) > ($1, $2) ORDER BY org_id, request_id LIMIT $3)
    ${read} ORDER BY p.org_id, p.request_id`;
}

/** Each row begins with organization and request. */
async function* pages(on: Asking, size: number, select: string): AsyncGenerator<Cell[]> {
  let last: [string, string] = ["", ""];
  for (;;) {
    const page = await askOnce(on, select, [...last, size]);
    yield* page;
    const end = page.at(-1);
    if (end === undefined || page.length < size) return;
    last = [text(end[0]), text(end[1])];
  }
}

/** Returns frozen releases by digest, reading each once. */
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
