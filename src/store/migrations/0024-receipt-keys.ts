// Public keys of receipts that were signed before the data key was changed.
export const RECEIPT_KEYS_SCHEMA = `
CREATE TABLE receipt_key (
  kid TEXT NOT NULL PRIMARY KEY,
  x TEXT NOT NULL,
  retired_at INTEGER NOT NULL
) STRICT;
`;
