// Checks the entries of one organization from first to last: gapless versions, an unbroken hash chain up to the head,
// and balances that are the sums of their entries (I1, I2, I5, I12 of money.md §5). Stores pass the rows in order.
import type { Cell } from "../cell.ts";
import { ENTRY } from "../columns.ts";
import { type NanoUsd, ZERO_USD } from "../../domain/money.ts";
import { MOVES } from "../commit/account-postings.ts";
import { CHAIN_START, entryHash } from "../entry-hash.ts";
import type { Findings } from "./findings.ts";
import type { Violation } from "../records.ts";
import type { Account, BalanceRow, EntryRow } from "../rows.ts";

const ACCOUNTS: readonly Account[] = [
  "available",
  "held",
  "revenue",
  "purchases",
  "grants",
  "variance",
  "debt",
];

const GAPLESS = "I5 versions gapless";
const HASHES = "I5 hash chain";
const JOIN = "I5 rows join";
const KINDS = "I2 entry kinds";

/**
 * The invariants of a chain that concern its entries: entries are never changed, so nothing repairs a violation. Accepted
 * violations are stored under these names: the audit reports those of a renamed invariant again.
 */
export const CHAIN_FINDINGS: ReadonlySet<string> = new Set([GAPLESS, HASHES, JOIN, KINDS]);

type Standing = { available: bigint; held: bigint };

/** Returns the violation that the next entry is going to be, if it does not follow on from the last one; otherwise null. */
export const unjoined = (organizationId: string, last: Standing, balance: Standing): Violation | null =>
  joinOf(last) === joinOf(balance)
    ? null
    : { invariant: JOIN, organizationId, requestId: null, expected: joinOf(last), found: joinOf(balance) };

const joinOf = ({ available, held }: Standing): string => `${available}/${held}`;

/** Builds an entry from the cells of `ENTRY`; its contents are checked, not trusted. */
export const entryOf = (cells: readonly Cell[]): EntryRow => ENTRY.row(cells) as EntryRow;

/** A place in a chain that is accepted as it is: everything after it is checked from there. */
export interface ChainBase {
  version: number;
  headHash: Uint8Array;
  /** The balance after it. */
  available: NanoUsd;
  held: NanoUsd;
}

/** The place before the first entry. */
export const CHAIN_BEGIN: ChainBase = {
  version: 0,
  headHash: CHAIN_START,
  available: ZERO_USD,
  held: ZERO_USD,
};

/** Takes one organization's entries after a base, oldest first, and reports into `Findings`. Sums need a whole chain. */
export class ChainVerification {
  private readonly sums = Object.fromEntries(ACCOUNTS.map((account) => [account, 0n])) as Record<
    Account,
    bigint
  >;
  private version: number;
  private head: Uint8Array;
  private last: Standing;

  constructor(
    private readonly organizationId: string,
    private readonly findings: Findings,
    private readonly base: ChainBase = CHAIN_BEGIN,
  ) {
    this.version = base.version;
    this.head = base.headHash;
    this.last = { available: base.available, held: base.held };
  }

  add(entry: EntryRow): void {
    this.check(entry);
    // An unknown account has no sum; that the row is not a valid move is found below.
    if (entry.debit in this.sums) this.sums[entry.debit] -= entry.amount;
    if (entry.credit in this.sums) this.sums[entry.credit] += entry.amount;
    this.version = entry.version;
    this.head = entry.hash;
    this.last = { available: entry.availableAfter, held: entry.heldAfter };
  }

  /** Call after the last entry: checks that the balance agrees. */
  end(balance: BalanceRow): void {
    const { findings, sums, last } = this;
    const whole = this.base.version === 0;
    const { available, held, debt, purchased, granted, spent } = balance;
    const about = { organizationId: this.organizationId };
    findings.equal("I1 no account below zero", {
      ...about,
      expected: "yes",
      found: [available, held, debt].every((sum) => sum >= 0n) ? "yes" : "no",
    });
    // Entries that follow on from each other add up to what the last one left.
    const entries = whole ? sums : last;
    findings.equal("I2 available = entries", { ...about, expected: entries.available, found: available });
    findings.equal("I2 held = entries", { ...about, expected: entries.held, found: held });
    findings.equal("I5 head version", { ...about, expected: this.version, found: balance.version });
    findings.equal("I5 head hash", { ...about, expected: hex(this.head), found: hex(balance.headHash) });
    findings.equal("I12 paid in - spent = available + held - debt", {
      ...about,
      expected: purchased + granted - spent,
      found: available + held - debt,
    });
    if (!whole) return;
    findings.equal("I12 purchased = entries", { ...about, expected: -sums.purchases, found: purchased });
    findings.equal("I12 granted = entries", { ...about, expected: -sums.grants, found: granted });
    findings.equal("I12 spent = entries", { ...about, expected: sums.revenue + sums.variance, found: spent });
    findings.equal("I12 debt = entries", { ...about, expected: -sums.debt, found: debt });
  }

  private check(entry: EntryRow): void {
    const { findings, last } = this;
    const about = { organizationId: this.organizationId };
    const { hash, ...figures } = entry;
    findings.equal(GAPLESS, { ...about, expected: this.version + 1, found: entry.version });
    findings.equal(HASHES, {
      ...about,
      expected: hex(entryHash({ ...figures, prevHash: this.head })),
      found: hex(hash),
    });
    findings.equal(JOIN, {
      ...about,
      expected: joinOf(last),
      found: joinOf({ available: entry.availableBefore, held: entry.heldBefore }),
    });
    const move = entry.kind in MOVES ? MOVES[entry.kind] : null;
    findings.equal(KINDS, {
      ...about,
      expected: move === null ? "a known kind" : `${move.debit}>${move.credit}`,
      found: `${entry.debit}>${entry.credit}`,
    });
  }
}

const hex = (value: Uint8Array): string => Buffer.from(value).toString("hex");
