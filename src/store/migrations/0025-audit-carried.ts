// Lines about people that have reached the audit log, by their ids in the outbox of the people's file, so
// that each is carried over once. On PostgreSQL they are written to the log itself, and the table is empty.
export const AUDIT_CARRIED_SCHEMA = `
CREATE TABLE audit_carried (
  id TEXT NOT NULL PRIMARY KEY,
  carried_at INTEGER NOT NULL
) STRICT;
`;
