// The ledger's schema on PostgreSQL (money.md §5, §11): the tables of the SQLite store, plus who may own requests. Every hot
// key begins with its organization. There are no sequences, triggers or foreign keys on the money path, so that the tables
// can be distributed over several machines by organization. The gateway's own role may not change tables that serve as proof.

const APPEND_ONLY = ["ledger_entry", "topup", "route_release", "audit_log"];

export const POSTGRES_LEDGER_SCHEMA = `
CREATE TABLE store_state (
  id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
  -- Raised by each process that starts, so that no two ever share a number.
  epoch BIGINT NOT NULL,
  data_key_check BYTEA NOT NULL
);

-- One row per running gateway. Whose lease ran out may not admit or send until it has renewed it; once it is condemned it
-- never will, and what it left is resolved by the others. 0: given back.
CREATE TABLE instance (
  epoch BIGINT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  started_at BIGINT NOT NULL,
  lease_until BIGINT NOT NULL,
  condemned BOOLEAN NOT NULL DEFAULT false
);

CREATE TABLE organization (
  org_id TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  created_at BIGINT NOT NULL
);

-- One slot (0) until an organization outgrows one row (money.md §11, step 3).
CREATE TABLE org_balance (
  org_id TEXT NOT NULL,
  slot BIGINT NOT NULL,
  available BIGINT NOT NULL CHECK (available >= 0),
  held BIGINT NOT NULL CHECK (held >= 0),
  debt BIGINT NOT NULL CHECK (debt >= 0),
  purchased BIGINT NOT NULL CHECK (purchased >= 0),
  granted BIGINT NOT NULL CHECK (granted >= 0),
  spent BIGINT NOT NULL CHECK (spent >= 0),
  version BIGINT NOT NULL CHECK (version >= 0),
  head_hash BYTEA NOT NULL CHECK (length(head_hash) = 32),
  stamped_at BIGINT NOT NULL,
  PRIMARY KEY (org_id, slot)
) WITH (fillfactor = 50);

-- One debit-credit pair per row. What one transaction moves the same way for several requests of an organization is
-- one row: the requests name the transaction (opened_txn, closed_txn), the row says how many and how much.
CREATE TABLE ledger_entry (
  org_id TEXT NOT NULL,
  slot BIGINT NOT NULL,
  version BIGINT NOT NULL,
  txn BIGINT NOT NULL,
  kind TEXT NOT NULL,
  debit TEXT NOT NULL,
  credit TEXT NOT NULL CHECK (debit <> credit),
  amount BIGINT NOT NULL CHECK (amount > 0),
  available_before BIGINT NOT NULL CHECK (available_before >= 0),
  available_after BIGINT NOT NULL CHECK (available_after >= 0),
  held_before BIGINT NOT NULL CHECK (held_before >= 0),
  held_after BIGINT NOT NULL CHECK (held_after >= 0),
  requests BIGINT NOT NULL CHECK (requests >= 0),
  reference TEXT,
  at BIGINT NOT NULL,
  prev_hash BYTEA NOT NULL,
  hash BYTEA NOT NULL,
  PRIMARY KEY (org_id, slot, version)
);

CREATE TABLE request (
  org_id TEXT NOT NULL,
  request_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  idem_key TEXT,
  model TEXT NOT NULL,
  tier TEXT NOT NULL,
  stream BOOLEAN NOT NULL,
  -- admitted: held, provably not sent; dispatched: may have been sent.
  state TEXT NOT NULL CHECK (state IN ('admitted', 'dispatched', 'settled', 'released')),
  epoch BIGINT NOT NULL,
  admitted_at BIGINT NOT NULL,
  deadline_at BIGINT NOT NULL,
  month TEXT NOT NULL,
  release_digest TEXT NOT NULL,
  hold BIGINT NOT NULL CHECK (hold >= 0),
  prompt_bound BIGINT NOT NULL,
  output_bound BIGINT NOT NULL,
  opened_txn BIGINT NOT NULL,
  closed_txn BIGINT,
  ended_at BIGINT,
  evidence TEXT,
  prompt_tokens BIGINT,
  completion_tokens BIGINT,
  cached_tokens BIGINT,
  reasoning_tokens BIGINT,
  -- Set while a stream runs, with prompt_tokens, release_digest and attempts beside it; null: nothing was delivered yet.
  delivered_tokens BIGINT CHECK (delivered_tokens >= 0),
  charge BIGINT NOT NULL DEFAULT 0 CHECK (charge >= 0 AND charge <= hold),
  variance BIGINT NOT NULL DEFAULT 0 CHECK (variance >= 0),
  minimum_applied BOOLEAN NOT NULL DEFAULT false,
  status BIGINT,
  error_code TEXT,
  finish_reason TEXT,
  first_part_ms BIGINT,
  total_ms BIGINT,
  -- JSON: attempts are written once, with the end of their request, and never read without it.
  attempts TEXT NOT NULL DEFAULT '[]',
  -- Set at the end of a keyed request: how long its answer replays, and how long its key stays taken.
  answer_until BIGINT,
  claim_until BIGINT,
  PRIMARY KEY (org_id, request_id),
  CHECK ((state IN ('admitted', 'dispatched')) = (closed_txn IS NULL))
) WITH (fillfactor = 70);
-- Not by state: then the fence, which only changes that, would have to touch every index.
CREATE INDEX request_unfinished ON request (epoch, deadline_at) WHERE closed_txn IS NULL;

CREATE TABLE claim (
  org_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  idem_key TEXT NOT NULL,
  fingerprint BYTEA NOT NULL CHECK (length(fingerprint) = 32),
  request_id TEXT NOT NULL,
  -- When the row may be purged; whether the key is taken is decided by the clock at look-up.
  expires_at BIGINT NOT NULL,
  PRIMARY KEY (org_id, key_id, idem_key)
);
CREATE INDEX claim_expiry ON claim (expires_at);

CREATE TABLE result (
  org_id TEXT NOT NULL,
  request_id TEXT NOT NULL,
  sealed BYTEA NOT NULL,
  expires_at BIGINT NOT NULL,
  PRIMARY KEY (org_id, request_id)
);
-- Sealed bytes do not compress.
ALTER TABLE result ALTER COLUMN sealed SET STORAGE EXTERNAL;
CREATE INDEX result_expiry ON result (expires_at);

-- What a keyed stream has sent so far; gone once its request has ended: then result has the answer.
CREATE TABLE stream_chunk (
  org_id TEXT NOT NULL,
  request_id TEXT NOT NULL,
  seq BIGINT NOT NULL CHECK (seq >= 0),
  sealed BYTEA NOT NULL,
  PRIMARY KEY (org_id, request_id, seq)
);
ALTER TABLE stream_chunk ALTER COLUMN sealed SET STORAGE EXTERNAL;

CREATE TABLE api_key (
  org_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  name TEXT NOT NULL,
  prefix TEXT NOT NULL,
  digest BYTEA NOT NULL CHECK (length(digest) = 32),
  scope TEXT NOT NULL CHECK (scope IN ('standard', 'research')),
  limit_nano BIGINT CHECK (limit_nano >= 0),
  created_at BIGINT NOT NULL,
  revoked_at BIGINT,
  PRIMARY KEY (org_id, key_id)
);
CREATE INDEX api_key_id ON api_key (key_id);

CREATE TABLE key_month (
  org_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  month TEXT NOT NULL,
  held BIGINT NOT NULL CHECK (held >= 0),
  spent BIGINT NOT NULL CHECK (spent >= 0),
  last_admitted_at BIGINT NOT NULL,
  PRIMARY KEY (org_id, key_id, month)
) WITH (fillfactor = 50);

-- By the hour of admission, hours since 1970 UTC. A month is a partition, so that forgetting one is one DROP TABLE.
CREATE TABLE usage_hour (
  org_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  model TEXT NOT NULL,
  hour BIGINT NOT NULL,
  requests BIGINT NOT NULL CHECK (requests >= 0),
  input_tokens BIGINT NOT NULL CHECK (input_tokens >= 0),
  cached_tokens BIGINT NOT NULL CHECK (cached_tokens >= 0),
  output_tokens BIGINT NOT NULL CHECK (output_tokens >= 0),
  charge BIGINT NOT NULL CHECK (charge >= 0),
  PRIMARY KEY (org_id, key_id, model, hour)
) PARTITION BY RANGE (hour);
CREATE TABLE usage_hour_other PARTITION OF usage_hour DEFAULT;

CREATE TABLE topup (
  org_id TEXT NOT NULL,
  source TEXT NOT NULL,
  external_id TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('purchase', 'grant')),
  amount BIGINT NOT NULL CHECK (amount > 0),
  balance_after BIGINT NOT NULL,
  txn BIGINT NOT NULL,
  at BIGINT NOT NULL,
  PRIMARY KEY (org_id, source, external_id)
);

CREATE TABLE entitlement (
  org_id TEXT NOT NULL,
  model TEXT NOT NULL,
  id TEXT NOT NULL,
  project TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('requested', 'active', 'revoked')),
  requested_by TEXT NOT NULL,
  approved_by TEXT,
  created_at BIGINT NOT NULL,
  approved_at BIGINT,
  expires_at BIGINT,
  revoked_at BIGINT,
  PRIMARY KEY (org_id, model, id)
);
CREATE INDEX entitlement_id ON entitlement (id);

CREATE TABLE route_release (
  route TEXT NOT NULL,
  version BIGINT NOT NULL,
  digest TEXT NOT NULL UNIQUE,
  jws TEXT NOT NULL,
  manifest TEXT NOT NULL,
  signed_by TEXT NOT NULL,
  expires_at BIGINT NOT NULL,
  published_at BIGINT NOT NULL,
  PRIMARY KEY (route, version)
);

CREATE TABLE route_state (
  route TEXT NOT NULL PRIMARY KEY,
  highest_version BIGINT NOT NULL,
  disabled BOOLEAN NOT NULL,
  reason TEXT,
  since BIGINT NOT NULL
);

CREATE TABLE management_key (
  id TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  prefix TEXT NOT NULL,
  digest BYTEA NOT NULL CHECK (length(digest) = 32),
  created_at BIGINT NOT NULL,
  revoked_at BIGINT
);

-- Written off the money path, and with top-ups. The id is a UUIDv7: lines of one time lie together.
CREATE TABLE audit_log (
  id TEXT NOT NULL PRIMARY KEY,
  at BIGINT NOT NULL,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  org_id TEXT,
  target TEXT NOT NULL,
  value_before TEXT,
  value_after TEXT
);
CREATE INDEX audit_log_organization ON audit_log (org_id, id);

${APPEND_ONLY.map((table) => `REVOKE UPDATE, DELETE, TRUNCATE ON ${table} FROM CURRENT_USER;`).join("\n")}
REVOKE DELETE, TRUNCATE ON request, api_key FROM CURRENT_USER;
`;
