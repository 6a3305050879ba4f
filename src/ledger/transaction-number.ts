// The numbers of transactions: those of one epoch, of a boot on SQLite and of a lease on PostgreSQL, stay apart from those of
// every other.

const PER_EPOCH = 1_000_000_000;

/** Of the n-th transaction of an epoch. Throws where the epoch has no more of them. */
export function transactionNumber(epoch: number, n: number): number {
  if (n >= PER_EPOCH) throw new Error("a process ran out of transaction numbers: restart");
  return epoch * PER_EPOCH + n;
}
