// Alerts: rules and channels of an organization, what is firing, and the outbox. A message is a row before it is
// sent, written in the transaction that records the crossing (docs/alerts.md). PostgreSQL has the same tables.

export const ALERTS_SCHEMA = `
CREATE TABLE alert_rule (
  rule_id TEXT NOT NULL PRIMARY KEY,
  org_id TEXT NOT NULL REFERENCES organization (org_id),
  kind TEXT NOT NULL,
  amount INTEGER,
  percent INTEGER,
  days INTEGER,
  key_id TEXT,
  -- JSON array of channel ids; the dashboard's list gets every message anyway.
  channels TEXT NOT NULL,
  enabled INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  last_fired_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX alert_rule_organization ON alert_rule (org_id, created_at);

CREATE TABLE alert_channel (
  channel_id TEXT NOT NULL PRIMARY KEY,
  org_id TEXT NOT NULL REFERENCES organization (org_id),
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  target TEXT NOT NULL,
  -- Sealed with the data key.
  secret TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  removed_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX alert_channel_organization ON alert_channel (org_id, created_at);

-- A row while a condition holds; who inserts it sends the messages.
CREATE TABLE alert_state (
  rule_id TEXT NOT NULL,
  subject TEXT NOT NULL,
  crossing_id TEXT NOT NULL,
  since INTEGER NOT NULL,
  PRIMARY KEY (rule_id, subject)
) STRICT, WITHOUT ROWID;

CREATE TABLE alert_delivery (
  delivery_id TEXT NOT NULL PRIMARY KEY,
  org_id TEXT NOT NULL REFERENCES organization (org_id),
  rule_id TEXT,
  channel_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  text TEXT NOT NULL,
  payload TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'delivered', 'failed')),
  tries INTEGER NOT NULL,
  status INTEGER,
  error TEXT,
  created_at INTEGER NOT NULL,
  -- Null once it has ended.
  next_try_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX alert_delivery_organization ON alert_delivery (org_id, created_at);
CREATE INDEX alert_delivery_due ON alert_delivery (next_try_at) WHERE state = 'waiting';

CREATE TABLE alert_attempt (
  delivery_id TEXT NOT NULL,
  n INTEGER NOT NULL,
  at INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  status INTEGER,
  error TEXT,
  PRIMARY KEY (delivery_id, n)
) STRICT, WITHOUT ROWID;
`;
