// A running request's hold may be lowered once, when its prompt has been counted: `hold` is the
// current hold, `lowered` what was returned, in the transaction `lowered_txn`.
export const LOWERED_HOLDS_SCHEMA = `
ALTER TABLE request ADD COLUMN lowered INTEGER NOT NULL DEFAULT 0 CHECK (lowered >= 0);
ALTER TABLE request ADD COLUMN lowered_txn INTEGER;
`;
