// Requests that could not be ended: their holds stay until an operator decides (docs/decisions/0020-one-bad-record.md).
// A row outlives the decision, because the verification checks a charge set by hand against it. An older program
// running alongside does not know the table and need not: the request itself is unchanged.
export const QUARANTINE_SCHEMA = `
CREATE TABLE quarantine (
  org_id TEXT NOT NULL,
  request_id TEXT NOT NULL,
  reason TEXT NOT NULL,
  since INTEGER NOT NULL,
  -- Null until an operator decided; the charge is null where the hold was released.
  decided_at INTEGER,
  decided_by TEXT,
  decided_reason TEXT,
  charge INTEGER CHECK (charge >= 0),
  PRIMARY KEY (org_id, request_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX quarantine_open ON quarantine (since) WHERE decided_at IS NULL;
`;
