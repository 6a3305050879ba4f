// Organizations whose books do not add up: their paid calls are refused until the books hold again, or an operator has
// decided (docs/decisions/0088-broken-books-stop-their-organization.md). A row outlives the stop: `base` is the place in the
// chain from which the books are checked, which a decision moves. An older program does not know the table and keeps serving.
export const STOPPED_ORGANIZATIONS_SCHEMA = `
CREATE TABLE stopped_organization (
  org_id TEXT NOT NULL PRIMARY KEY,
  -- Null: paid calls go on.
  since INTEGER,
  -- What is broken, JSON.
  violations TEXT NOT NULL,
  -- JSON.
  base TEXT NOT NULL,
  resumed_at INTEGER,
  resumed_by TEXT,
  resumed_reason TEXT
) STRICT;
`;
