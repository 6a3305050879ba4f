// The purpose of a requested entitlement, its wanted end, and the reply. The ledger's row decides; this explains.
export const ENTITLEMENT_NOTES_SCHEMA = `
CREATE TABLE entitlement_note (
  entitlement_id TEXT NOT NULL PRIMARY KEY,
  purpose TEXT NOT NULL,
  wanted_until INTEGER,
  -- How a request ended that was never approved.
  outcome TEXT CHECK (outcome IN ('declined', 'withdrawn')),
  decided_by TEXT,
  note TEXT
) STRICT;
`;
