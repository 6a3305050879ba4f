// The ledger's schema on SQLite (money.md §5). Every table is STRICT, so that no money column ever turns into a
// float. Keys of the money path begin with the organization. Tables that serve as proof are append-only by trigger.

/** A trigger that forbids a statement on a table, whoever runs it. */
const forbid = (statement: "UPDATE" | "DELETE", table: string): string =>
  `CREATE TRIGGER ${table}_no_${statement.toLowerCase()} BEFORE ${statement} ON ${table}
   BEGIN SELECT RAISE(ABORT, '${table} is append-only'); END;`;

const appendOnly = (table: string): string => forbid("UPDATE", table) + forbid("DELETE", table);

export const LEDGER_SCHEMA = `
CREATE TABLE store_state (
  id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  epoch INTEGER NOT NULL,
  data_key_check BLOB NOT NULL
) STRICT;

CREATE TABLE organization (
  org_id TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- One slot (0) until an organization outgrows one row (money.md §11, step 3).
CREATE TABLE org_balance (
  org_id TEXT NOT NULL REFERENCES organization (org_id),
  slot INTEGER NOT NULL,
  available INTEGER NOT NULL CHECK (available >= 0),
  held INTEGER NOT NULL CHECK (held >= 0),
  debt INTEGER NOT NULL CHECK (debt >= 0),
  purchased INTEGER NOT NULL CHECK (purchased >= 0),
  granted INTEGER NOT NULL CHECK (granted >= 0),
  spent INTEGER NOT NULL CHECK (spent >= 0),
  version INTEGER NOT NULL CHECK (version >= 0),
  head_hash BLOB NOT NULL CHECK (length(head_hash) = 32),
  stamped_at INTEGER NOT NULL,
  PRIMARY KEY (org_id, slot)
) STRICT, WITHOUT ROWID;

-- One debit-credit pair per row. What one transaction moves the same way for several requests of an organization is
-- one row: the requests name the transaction (opened_txn, closed_txn), the row says how many and how much.
CREATE TABLE ledger_entry (
  org_id TEXT NOT NULL,
  slot INTEGER NOT NULL,
  version INTEGER NOT NULL,
  txn INTEGER NOT NULL,
  kind TEXT NOT NULL,
  debit TEXT NOT NULL,
  credit TEXT NOT NULL CHECK (debit <> credit),
  amount INTEGER NOT NULL CHECK (amount > 0),
  available_before INTEGER NOT NULL CHECK (available_before >= 0),
  available_after INTEGER NOT NULL CHECK (available_after >= 0),
  held_before INTEGER NOT NULL CHECK (held_before >= 0),
  held_after INTEGER NOT NULL CHECK (held_after >= 0),
  requests INTEGER NOT NULL CHECK (requests >= 0),
  reference TEXT,
  at INTEGER NOT NULL,
  prev_hash BLOB NOT NULL,
  hash BLOB NOT NULL,
  PRIMARY KEY (org_id, slot, version)
) STRICT, WITHOUT ROWID;
${appendOnly("ledger_entry")}

CREATE TABLE request (
  org_id TEXT NOT NULL,
  request_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  idem_key TEXT,
  model TEXT NOT NULL,
  tier TEXT NOT NULL,
  stream INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('dispatched', 'settled', 'released')),
  epoch INTEGER NOT NULL,
  admitted_at INTEGER NOT NULL,
  deadline_at INTEGER NOT NULL,
  month TEXT NOT NULL,
  release_digest TEXT NOT NULL,
  hold INTEGER NOT NULL CHECK (hold >= 0),
  prompt_bound INTEGER NOT NULL,
  output_bound INTEGER NOT NULL,
  opened_txn INTEGER NOT NULL,
  closed_txn INTEGER,
  ended_at INTEGER,
  evidence TEXT,
  prompt_tokens INTEGER,
  completion_tokens INTEGER,
  cached_tokens INTEGER,
  reasoning_tokens INTEGER,
  charge INTEGER NOT NULL DEFAULT 0 CHECK (charge >= 0 AND charge <= hold),
  variance INTEGER NOT NULL DEFAULT 0 CHECK (variance >= 0),
  minimum_applied INTEGER NOT NULL DEFAULT 0,
  status INTEGER,
  error_code TEXT,
  finish_reason TEXT,
  first_part_ms INTEGER,
  total_ms INTEGER,
  -- JSON: attempts are written once, with the end of their request, and never read without it.
  attempts TEXT NOT NULL DEFAULT '[]',
  -- Set at the end of a keyed request: how long its answer replays, and how long its key stays taken.
  answer_until INTEGER,
  claim_until INTEGER,
  PRIMARY KEY (org_id, request_id),
  CHECK ((state = 'dispatched') = (closed_txn IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX request_unfinished ON request (deadline_at) WHERE state = 'dispatched';
${forbid("DELETE", "request")}

CREATE TABLE claim (
  org_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  idem_key TEXT NOT NULL,
  fingerprint BLOB NOT NULL CHECK (length(fingerprint) = 32),
  request_id TEXT NOT NULL,
  -- When the row may be purged; whether the key is taken is decided by the clock at look-up.
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (org_id, key_id, idem_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX claim_expiry ON claim (expires_at);

CREATE TABLE result (
  org_id TEXT NOT NULL,
  request_id TEXT NOT NULL,
  sealed BLOB NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (org_id, request_id)
) STRICT;
CREATE INDEX result_expiry ON result (expires_at);

CREATE TABLE api_key (
  org_id TEXT NOT NULL REFERENCES organization (org_id),
  key_id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  prefix TEXT NOT NULL,
  digest BLOB NOT NULL CHECK (length(digest) = 32),
  scope TEXT NOT NULL CHECK (scope IN ('standard', 'research')),
  limit_nano INTEGER CHECK (limit_nano >= 0),
  created_at INTEGER NOT NULL,
  revoked_at INTEGER,
  PRIMARY KEY (org_id, key_id)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER api_key_revoked_for_good BEFORE UPDATE ON api_key
WHEN OLD.revoked_at IS NOT NULL AND NEW.revoked_at IS NOT OLD.revoked_at
BEGIN SELECT RAISE(ABORT, 'a revocation is permanent'); END;
${forbid("DELETE", "api_key")}

CREATE TABLE key_month (
  org_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  month TEXT NOT NULL,
  held INTEGER NOT NULL CHECK (held >= 0),
  spent INTEGER NOT NULL CHECK (spent >= 0),
  last_admitted_at INTEGER NOT NULL,
  PRIMARY KEY (org_id, key_id, month)
) STRICT, WITHOUT ROWID;

CREATE TABLE usage_hour (
  org_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  model TEXT NOT NULL,
  hour INTEGER NOT NULL,
  requests INTEGER NOT NULL CHECK (requests >= 0),
  input_tokens INTEGER NOT NULL CHECK (input_tokens >= 0),
  cached_tokens INTEGER NOT NULL CHECK (cached_tokens >= 0),
  output_tokens INTEGER NOT NULL CHECK (output_tokens >= 0),
  charge INTEGER NOT NULL CHECK (charge >= 0),
  PRIMARY KEY (org_id, key_id, model, hour)
) STRICT, WITHOUT ROWID;

CREATE TABLE topup (
  org_id TEXT NOT NULL REFERENCES organization (org_id),
  source TEXT NOT NULL,
  external_id TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('purchase', 'grant')),
  amount INTEGER NOT NULL CHECK (amount > 0),
  balance_after INTEGER NOT NULL,
  txn INTEGER NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (org_id, source, external_id)
) STRICT, WITHOUT ROWID;
${appendOnly("topup")}

CREATE TABLE entitlement (
  org_id TEXT NOT NULL REFERENCES organization (org_id),
  model TEXT NOT NULL,
  id TEXT NOT NULL UNIQUE,
  project TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('requested', 'active', 'revoked')),
  requested_by TEXT NOT NULL,
  approved_by TEXT,
  created_at INTEGER NOT NULL,
  approved_at INTEGER,
  expires_at INTEGER,
  revoked_at INTEGER,
  PRIMARY KEY (org_id, model, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE route_release (
  route TEXT NOT NULL,
  version INTEGER NOT NULL,
  digest TEXT NOT NULL UNIQUE,
  jws TEXT NOT NULL,
  manifest TEXT NOT NULL,
  signed_by TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  published_at INTEGER NOT NULL,
  PRIMARY KEY (route, version)
) STRICT, WITHOUT ROWID;
${appendOnly("route_release")}

CREATE TABLE route_state (
  route TEXT NOT NULL PRIMARY KEY,
  highest_version INTEGER NOT NULL,
  disabled INTEGER NOT NULL,
  reason TEXT,
  since INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TRIGGER route_state_never_sinks BEFORE UPDATE ON route_state WHEN NEW.highest_version < OLD.highest_version
BEGIN SELECT RAISE(ABORT, 'the highest version of a route never sinks'); END;

CREATE TABLE management_key (
  id TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  prefix TEXT NOT NULL,
  digest BLOB NOT NULL CHECK (length(digest) = 32),
  created_at INTEGER NOT NULL,
  revoked_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE audit_log (
  seq INTEGER NOT NULL PRIMARY KEY,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  org_id TEXT,
  target TEXT NOT NULL,
  value_before TEXT,
  value_after TEXT
) STRICT;
CREATE INDEX audit_log_organization ON audit_log (org_id, seq);
${appendOnly("audit_log")}
`;
