// The entries of every organization from first to last: gapless versions, an unbroken hash chain up to the head, and
// balances that are the sums of their entries (I1, I2, I5, I12 of money.md §5).
import type { Database } from "bun:sqlite";
import { MOVES } from "./books.ts";
import { CHAIN_START, entryHash } from "./entry-hash.ts";
import type { Findings } from "./findings.ts";
import type { Account, EntryKind, EntryRow } from "./rows.ts";
import { bytes, type Cell, int, money, text, textOrNull } from "./sqlite-cell.ts";

const ACCOUNTS: readonly Account[] = [
  "available",
  "held",
  "revenue",
  "purchases",
  "grants",
  "variance",
  "debt",
];

type Sums = Record<Account, bigint>;

export function auditChains(database: Database, findings: Findings): void {
  const balances = database
    .query(
      `SELECT org_id, available, held, debt, purchased, granted, spent, version, head_hash FROM org_balance ORDER BY org_id`,
    )
    .values() as Cell[][];
  for (const balance of balances) auditOrganization(database, balance, findings);
}

function auditOrganization(database: Database, balance: Cell[], findings: Findings): void {
  const organizationId = text(balance[0]);
  const sums = Object.fromEntries(ACCOUNTS.map((account) => [account, 0n])) as Sums;
  let version = 0;
  let head = CHAIN_START;
  let last = { available: 0n, held: 0n };
  const rows = database
    .query(
      `SELECT version, txn, kind, debit, credit, amount, available_before, available_after, held_before, held_after,
         requests, reference, at, prev_hash, hash, slot
       FROM ledger_entry WHERE org_id = ?1 AND slot = 0 ORDER BY version`,
    )
    .iterate(organizationId) as unknown as Iterable<Record<string, Cell>>;
  for (const row of rows) {
    const entry = entryOf(organizationId, Object.values(row));
    checkEntry(findings, entry, { version, head, last });
    sums[entry.debit] -= entry.amount;
    sums[entry.credit] += entry.amount;
    version = entry.version;
    head = entry.hash;
    last = { available: entry.availableAfter, held: entry.heldAfter };
  }
  const [, available, held, debt, purchased, granted, spent] = balance.map((cell) =>
    typeof cell === "bigint" ? cell : 0n,
  );
  const about = { organizationId };
  findings.equal("I1 no account below zero", {
    ...about,
    expected: "yes",
    found: [available, held, debt].every((sum) => (sum ?? -1n) >= 0n) ? "yes" : "no",
  });
  findings.equal("I2 available = entries", { ...about, expected: sums.available, found: available ?? 0n });
  findings.equal("I2 held = entries", { ...about, expected: sums.held, found: held ?? 0n });
  findings.equal("I5 head version", { ...about, expected: version, found: int(balance[7]) });
  findings.equal("I5 head hash", { ...about, expected: hex(head), found: hex(bytes(balance[8])) });
  const paidIn = (purchased ?? 0n) + (granted ?? 0n) - (spent ?? 0n);
  findings.equal("I12 paid in - spent = available + held - debt", {
    ...about,
    expected: paidIn,
    found: (available ?? 0n) + (held ?? 0n) - (debt ?? 0n),
  });
  findings.equal("I12 paid in = entries", {
    ...about,
    expected: -sums.purchases - sums.grants,
    found: (purchased ?? 0n) + (granted ?? 0n),
  });
}

function checkEntry(
  findings: Findings,
  entry: EntryRow,
  before: { version: number; head: Uint8Array; last: { available: bigint; held: bigint } },
): void {
  const { organizationId, version } = entry;
  const about = { organizationId };
  const { hash, ...figures } = entry;
  findings.equal("I5 versions gapless", { ...about, expected: before.version + 1, found: version });
  findings.equal("I5 hash chain", {
    ...about,
    expected: hex(entryHash({ ...figures, prevHash: before.head })),
    found: hex(hash),
  });
  const joins = entry.availableBefore === before.last.available && entry.heldBefore === before.last.held;
  findings.equal("I5 rows join", {
    ...about,
    expected: `${before.last.available}/${before.last.held}`,
    found: joins
      ? `${before.last.available}/${before.last.held}`
      : `${entry.availableBefore}/${entry.heldBefore}`,
  });
  const move = MOVES[entry.kind];
  findings.equal("I2 entry kinds", {
    ...about,
    expected: `${move.debit}>${move.credit}`,
    found: `${entry.debit}>${entry.credit}`,
  });
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

const hex = (value: Uint8Array): string => Buffer.from(value).toString("hex");
