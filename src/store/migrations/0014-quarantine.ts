// Requests that nobody could end: their holds stay, until an operator decides (docs/decisions/0020-one-bad-record.md). A
// row outlives the decision, because the verification holds a charge that was set by hand against it. An older program beside
// this one does not know the table, and needs not: the request itself stays as it was.
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
