// The figures of a ledger entry in the fixed order in which its hash covers them, as one text: the ledger chains by it, and
// whoever checks a chain, a browser too, recomputes it (money.md §5, I5).

/** What an entry's hash covers, behind the hash of the entry before it. */
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

/** Hashed as UTF-8, after the 32 bytes of the former hash. */
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
