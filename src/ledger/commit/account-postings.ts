// One organization's accounts during one batch. Moves change the running balance at once; moves of one kind become one
// entry when the postings close, numbered and chained (money.md §5). Performance.md §1 asks for few rows: this is where.
import { addUsd, minUsd, type NanoUsd, subUsd } from "../../domain/money.ts";
import { entryHash } from "../entry-hash.ts";
import type { Account, BalanceRow, EntryKind, EntryRow } from "../rows.ts";

/** Which account pays which, by kind. */
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

export class AccountPostings {
  private readonly moves: Move[] = [];
  private readonly merged = new Map<EntryKind, Move>();
  private marked = false;
  private readonly opening: { available: NanoUsd; held: NanoUsd };

  /** `balance` belongs to these postings from now on. */
  constructor(
    readonly balance: BalanceRow,
    readonly txn: number,
    readonly atMs: number,
  ) {
    this.opening = { available: balance.available, held: balance.held };
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

  /** Moves an amount of a top-up or a reversal: an entry of its own, with its reference. */
  moveReferenced(kind: EntryKind, amount: NanoUsd, reference: string | null): void {
    if (amount === 0n) return;
    applyMove(this.balance, kind, amount);
    this.moves.push({ kind, amount, requests: 0, reference });
  }

  /** What is available pays what is owed, whenever something comes in or comes back. */
  payDebt(reference: string | null): void {
    this.moveReferenced("debt_paid", minUsd(this.balance.debt, this.balance.available), reference);
  }

  /** From now on whoever loads this organization looks for rate limits, too. */
  markLimited(): void {
    if (this.balance.limited === 1) return;
    this.balance.limited = 1;
    this.marked = true;
  }

  get touched(): boolean {
    return this.moves.length > 0 || this.marked;
  }

  /** The entries of this batch; version, chain head and stamp of the balance move on. */
  close(): EntryRow[] {
    const running = { ...this.opening };
    // What holds lowered in between gave back is there before the holds that it made room for.
    const isHold = ({ kind }: Move): boolean => kind === "hold";
    const moves = [...this.moves.filter((move) => !isHold(move)), ...this.moves.filter(isHold)];
    const entries = moves.map((move) => this.entryOf(move, running));
    if (this.touched) this.balance.stampedAtMs = this.atMs;
    return entries;
  }

  private entryOf(move: Move, running: { available: NanoUsd; held: NanoUsd }): EntryRow {
    const { debit, credit } = MOVES[move.kind];
    const before = { ...running };
    for (const account of ["available", "held"] as const) {
      if (debit === account) running[account] = subUsd(running[account], move.amount);
      if (credit === account) running[account] = addUsd(running[account], move.amount);
    }
    const entry = {
      organizationId: this.balance.organizationId,
      slot: 0,
      version: this.balance.version + 1,
      txn: this.txn,
      kind: move.kind,
      debit,
      credit,
      amount: move.amount,
      availableBefore: before.available,
      availableAfter: running.available,
      heldBefore: before.held,
      heldAfter: running.held,
      requests: move.requests,
      reference: move.reference,
      atMs: this.atMs,
      prevHash: this.balance.headHash,
    };
    const hash = entryHash(entry);
    this.balance.version = entry.version;
    this.balance.headHash = hash;
    return { ...entry, hash };
  }
}

function applyMove(balance: BalanceRow, kind: EntryKind, amount: NanoUsd): void {
  const { debit, credit } = MOVES[kind];
  if (debit === "available" || debit === "held") balance[debit] = subUsd(balance[debit], amount);
  if (credit === "available" || credit === "held") balance[credit] = addUsd(balance[credit], amount);
  // Debt is what the organization owes: paying it makes it smaller.
  if (credit === "debt") balance.debt = subUsd(balance.debt, amount);
  if (debit === "debt") balance.debt = addUsd(balance.debt, amount);
  if (kind === "charge") balance.spent = addUsd(balance.spent, amount);
  if (kind === "purchase") balance.purchased = addUsd(balance.purchased, amount);
  if (credit === "purchases") balance.purchased = subUsd(balance.purchased, amount);
  if (kind === "refund") balance.spent = subUsd(balance.spent, amount);
  if (kind === "grant") balance.granted = addUsd(balance.granted, amount);
}
