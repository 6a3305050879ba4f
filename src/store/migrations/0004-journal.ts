// Requests that held nothing: refusals, and replays of kept answers. They are not money, so they are
// outside the ledger's rows: kept for the activity page, written in batches after the answer was sent,
// and deleted when they expire. STRICT is the only SQLite feature used.

export const JOURNAL_SCHEMA = `
CREATE TABLE journal (
  request_id TEXT NOT NULL PRIMARY KEY,
  org_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('refused', 'replay')),
  at INTEGER NOT NULL,
  status INTEGER NOT NULL,
  code TEXT,
  model TEXT,
  stream INTEGER NOT NULL,
  -- Of a replay: the request that was paid.
  replay_of TEXT
) STRICT;
CREATE INDEX journal_organization ON journal (org_id, request_id);
CREATE INDEX journal_replays ON journal (replay_of) WHERE replay_of IS NOT NULL;
CREATE INDEX journal_time ON journal (at);
`;
