// The figures of a ledger entry as one text, in the fixed order that its hash covers. The ledger chains entries by it, and checkers
// of a chain, also in a browser, recompute it (money.md §5, I5).

/** What an entry's hash covers, after the hash of the previous entry. */
export interface EntryFigures {
  organizationId: string;
  slot: number;
  version: number;
  txn: number;
  kind: string;
  debit: string;
  credit: string;
  amount: bigint;
  availableBefore: bigint;
  availableAfter: bigint;
  heldBefore: bigint;
  heldAfter: bigint;
  requests: number;
  atMs: number;
  reference: string | null;
}

/** Hashed as UTF-8, after the 32 bytes of the previous hash. */
export const entryFigures = (entry: EntryFigures): string =>
  [
    entry.organizationId,
    entry.slot,
    entry.version,
    entry.txn,
    entry.kind,
    entry.debit,
    entry.credit,
    entry.amount,
    entry.availableBefore,
    entry.availableAfter,
    entry.heldBefore,
    entry.heldAfter,
    entry.requests,
    entry.atMs,
    entry.reference ?? "",
  ].join("|");
