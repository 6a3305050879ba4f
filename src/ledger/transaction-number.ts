// Transaction numbers: each epoch, of a boot on SQLite or a lease on PostgreSQL, has a range of its own.

const PER_EPOCH = 1_000_000_000;

/** Returns the number of an epoch's n-th transaction. Throws if the epoch has no more numbers. */
export function transactionNumber(epoch: number, n: number): number {
  if (n >= PER_EPOCH) throw new Error("a process ran out of transaction numbers: restart");
  return epoch * PER_EPOCH + n;
}
