// One organization's accounts during one batch. Moves change the running balance at once. When the postings close, moves
// of one kind become one entry, numbered and chained (money.md §5); this keeps rows few, as performance.md §1 asks.
import { addUsd, minUsd, type NanoUsd, subUsd } from "../../domain/money.ts";
import { entryHash } from "../entry-hash.ts";
import type { Account, BalanceRow, EntryKind, EntryRow } from "../rows.ts";

/** The account debited and the account credited, by kind. */
export const MOVES: Record<EntryKind, { debit: Account; credit: Account }> = {
  hold: { debit: "available", credit: "held" },
  charge: { debit: "held", credit: "revenue" },
  lower: { debit: "held", credit: "available" },
  rest: { debit: "held", credit: "available" },
  void: { debit: "held", credit: "available" },
  variance: { debit: "variance", credit: "revenue" },
  purchase: { debit: "purchases", credit: "available" },
  grant: { debit: "grants", credit: "available" },
  debt_paid: { debit: "available", credit: "debt" },
  chargeback: { debit: "available", credit: "purchases" },
  chargeback_debt: { debit: "debt", credit: "purchases" },
  refund: { debit: "revenue", credit: "available" },
};

interface Move {
  kind: EntryKind;
  amount: NanoUsd;
  requests: number;
  reference: string | null;
}

/** The moves of one organization in one batch. The balance follows each move at once; entries are made at the end. */
export class AccountPostings {
  private readonly moves: Move[] = [];
  private readonly merged = new Map<EntryKind, Move>();
  /** True if there is something to write besides moves. */
  private marked = false;
  /** The balance as it was loaded, then as each entry leaves it. */
  private readonly running: { available: NanoUsd; held: NanoUsd };

  /** Takes ownership of `balance`. */
  constructor(
    readonly balance: BalanceRow,
    readonly txn: number,
    readonly atMs: number,
  ) {
    this.running = { available: balance.available, held: balance.held };
  }

  /** Moves an amount for one request; a zero amount moves nothing and writes no row. */
  moveForRequest(kind: EntryKind, amount: NanoUsd): void {
    if (amount === 0n) return;
    applyMove(this.balance, kind, amount);
    const move = this.merged.get(kind);
    if (move !== undefined) {
      move.amount = addUsd(move.amount, amount);
      move.requests += 1;
      return;
    }
    const first: Move = { kind, amount, requests: 1, reference: null };
    this.merged.set(kind, first);
    this.moves.push(first);
  }

  /** Moves an amount of a top-up or a reversal, as an entry of its own with its reference. */
  moveReferenced(kind: EntryKind, amount: NanoUsd, reference: string | null): void {
    if (amount === 0n) return;
    applyMove(this.balance, kind, amount);
    this.moves.push({ kind, amount, requests: 0, reference });
  }

  /** Pays debt from the available balance; called whenever something comes in or comes back. */
  payDebt(reference: string | null): void {
    this.moveReferenced("debt_paid", minUsd(this.balance.debt, this.balance.available), reference);
  }

  /** From now on, loading this organization also loads its rate limits. */
  markLimited(): void {
    if (this.balance.limited === 1) return;
    this.balance.limited = 1;
    this.marked = true;
  }

  /** Advances the newest stamp even if nothing is held: whatever ends a right later is not stamped before it. */
  markAdmitted(): void {
    this.marked = true;
  }

  get touched(): boolean {
    return this.moves.length > 0 || this.marked;
  }

  /** Returns the entries of this batch and advances the balance's version, chain head and stamp. */
  close(): EntryRow[] {
    const entries: EntryRow[] = [];
    // Amounts returned by lowered holds come before the holds that they made room for.
    for (const move of this.moves) if (move.kind !== "hold") entries.push(this.entryOf(move));
    for (const move of this.moves) if (move.kind === "hold") entries.push(this.entryOf(move));
    if (this.touched) this.balance.stampedAtMs = this.atMs;
    return entries;
  }

  private entryOf({ kind, amount, requests, reference }: Move): EntryRow {
    const { balance, running } = this;
    const { debit, credit } = MOVES[kind];
    const { available: availableBefore, held: heldBefore } = running;
    if (debit === "available" || debit === "held") running[debit] = subUsd(running[debit], amount);
    if (credit === "available" || credit === "held") running[credit] = addUsd(running[credit], amount);
    balance.version += 1;
    const entry: EntryRow = {
      organizationId: balance.organizationId,
      slot: 0,
      version: balance.version,
      txn: this.txn,
      kind,
      debit,
      credit,
      amount,
      availableBefore,
      availableAfter: running.available,
      heldBefore,
      heldAfter: running.held,
      requests,
      reference,
      atMs: this.atMs,
      prevHash: balance.headHash,
      hash: balance.headHash, // set on the next line
    };
    entry.hash = entryHash(entry);
    balance.headHash = entry.hash;
    return entry;
  }
}

function applyMove(balance: BalanceRow, kind: EntryKind, amount: NanoUsd): void {
  const { debit, credit } = MOVES[kind];
  if (debit === "available" || debit === "held") balance[debit] = subUsd(balance[debit], amount);
  if (credit === "available" || credit === "held") balance[credit] = addUsd(balance[credit], amount);
  // Debt is what the organization owes: paying it reduces it.
  if (credit === "debt") balance.debt = subUsd(balance.debt, amount);
  if (debit === "debt") balance.debt = addUsd(balance.debt, amount);
  if (kind === "charge") balance.spent = addUsd(balance.spent, amount);
  if (kind === "purchase") balance.purchased = addUsd(balance.purchased, amount);
  if (credit === "purchases") balance.purchased = subUsd(balance.purchased, amount);
  if (kind === "refund") balance.spent = subUsd(balance.spent, amount);
  if (kind === "grant") balance.granted = addUsd(balance.granted, amount);
}
