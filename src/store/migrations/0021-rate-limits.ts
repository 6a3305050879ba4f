// Requests and tokens per minute, and concurrent requests: of an organization (no key, no model), of
// one of its keys, of a model within it, of a key and a model; without an organization: what the
// operator set on a model for each. Beside what is set is what is taken: theoretical arrival times in
// microseconds (GCRA). `limited`: 1 if such rows may exist and must be looked for.
export const RATE_LIMITS_SCHEMA = `
CREATE TABLE rate_limit (
  org_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  model TEXT NOT NULL,
  -- Set by an operator.
  requests_per_minute INTEGER CHECK (requests_per_minute > 0),
  tokens_per_minute INTEGER CHECK (tokens_per_minute > 0),
  concurrent INTEGER CHECK (concurrent > 0),
  -- Set by the organization itself.
  own_requests_per_minute INTEGER CHECK (own_requests_per_minute > 0),
  own_tokens_per_minute INTEGER CHECK (own_tokens_per_minute > 0),
  own_concurrent INTEGER CHECK (own_concurrent > 0),
  requests_tat INTEGER NOT NULL,
  tokens_tat INTEGER NOT NULL,
  -- As tokens_tat, of tokens that were used for certain: nothing is given back beyond it.
  used_tat INTEGER NOT NULL,
  running INTEGER NOT NULL CHECK (running >= 0),
  -- Requests that were admitted by then have taken no tokens here.
  since INTEGER NOT NULL,
  PRIMARY KEY (org_id, key_id, model)
) STRICT, WITHOUT ROWID;
ALTER TABLE org_balance ADD COLUMN limited INTEGER NOT NULL DEFAULT 0;
ALTER TABLE route_state ADD COLUMN limited INTEGER NOT NULL DEFAULT 0;
`;
