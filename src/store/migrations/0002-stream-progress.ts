// How far running streams have got (money.md §4, §8.6): what a crash of their owner is charged by, and the exact bytes
// that a caller's key gets back afterwards. Both are gone once the request has ended: then `result` has the answer.

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
