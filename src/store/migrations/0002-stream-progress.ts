// The progress of running streams (money.md §4, §8.6): what is charged if their owner crashes, and the exact bytes
// that a caller's key then gets back. Both are deleted once the request has ended: `result` then has the answer.

export const STREAM_PROGRESS_SCHEMA = `
-- Set while a stream runs, with prompt_tokens, release_digest and attempts beside it; null: nothing was delivered yet.
ALTER TABLE request ADD COLUMN delivered_tokens INTEGER CHECK (delivered_tokens >= 0);

CREATE TABLE stream_chunk (
  org_id TEXT NOT NULL,
  request_id TEXT NOT NULL,
  seq INTEGER NOT NULL CHECK (seq >= 0),
  sealed BLOB NOT NULL,
  PRIMARY KEY (org_id, request_id, seq)
) STRICT, WITHOUT ROWID;
`;
