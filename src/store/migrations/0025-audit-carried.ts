// Lines about people that are in the audit log, by their ids in the outbox of the people's file: each is carried once. On
// PostgreSQL they are written into the log itself, and the table is empty.
export const AUDIT_CARRIED_SCHEMA = `
CREATE TABLE audit_carried (
  id TEXT NOT NULL PRIMARY KEY,
  carried_at INTEGER NOT NULL
) STRICT;
`;
