// Money that goes back, orders, and the state of alerts. These are in the ledger's own file: `reversal` is
// written in the transaction of its entries, and an order counts as credited because the ledger's `topup`
// row says so, which a separate file could not prove (docs/decisions/0011-payments-beside-the-ledger.md).
// PostgreSQL has the same tables with its own type names (postgres/0003-payments.ts).

export const PAYMENTS_TABLES = `
-- Once per (source, external id), as a top-up: a dispute or a refund, however often it is reported.
CREATE TABLE reversal (
  org_id TEXT NOT NULL REFERENCES organization (org_id),
  source TEXT NOT NULL,
  external_id TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('chargeback', 'refund')),
  -- What is reversed: the payment, or the request.
  target TEXT NOT NULL,
  amount INTEGER NOT NULL CHECK (amount > 0),
  balance_after INTEGER NOT NULL CHECK (balance_after >= 0),
  debt_after INTEGER NOT NULL CHECK (debt_after >= 0),
  txn INTEGER NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (org_id, source, external_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX reversal_target ON reversal (org_id, kind, target);

-- What somebody is asked to pay. Amount, currency and organization of a payment are read from here, never from its event.
CREATE TABLE payment_order (
  order_id TEXT NOT NULL PRIMARY KEY,
  org_id TEXT NOT NULL REFERENCES organization (org_id),
  driver TEXT NOT NULL,
  purpose TEXT NOT NULL CHECK (purpose IN ('checkout', 'auto_top_up')),
  amount INTEGER NOT NULL CHECK (amount > 0),
  currency TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('open', 'credited', 'failed', 'expired')),
  -- Of the checkout page or the charge; the external id of its top-up.
  session_id TEXT UNIQUE,
  -- Of the payment itself: what disputes and refunds name.
  payment_id TEXT UNIQUE,
  pay_url TEXT,
  reason TEXT,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  ended_at INTEGER,
  -- Of the form that asked for it, so that a double click orders once.
  form_key TEXT,
  UNIQUE (org_id, form_key)
) STRICT;
CREATE INDEX payment_order_organization ON payment_order (org_id, created_at);
CREATE UNIQUE INDEX payment_order_one_auto ON payment_order (org_id) WHERE purpose = 'auto_top_up' AND state = 'open';

-- Every verified event of a payment service with what came of it; also those that credited nothing.
CREATE TABLE payment_event (
  driver TEXT NOT NULL,
  event_id TEXT NOT NULL,
  type TEXT NOT NULL,
  org_id TEXT,
  order_id TEXT,
  outcome TEXT NOT NULL,
  detail TEXT,
  deliveries INTEGER NOT NULL,
  received_at INTEGER NOT NULL,
  PRIMARY KEY (driver, event_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX payment_event_received ON payment_event (received_at);

CREATE TABLE auto_top_up (
  org_id TEXT NOT NULL PRIMARY KEY REFERENCES organization (org_id),
  enabled INTEGER NOT NULL,
  threshold INTEGER NOT NULL CHECK (threshold >= 0),
  amount INTEGER NOT NULL CHECK (amount > 0),
  -- Null is no cap.
  monthly_cap INTEGER CHECK (monthly_cap >= amount),
  failures INTEGER NOT NULL,
  last_failure TEXT,
  failed_at INTEGER,
  -- Null while nothing failed, or after the last try: then only a person starts it again.
  next_try_at INTEGER
) STRICT, WITHOUT ROWID;

-- How an organization can be charged without being there; the card itself stays with the payment service.
CREATE TABLE payment_method (
  org_id TEXT NOT NULL PRIMARY KEY REFERENCES organization (org_id),
  driver TEXT NOT NULL,
  customer_id TEXT NOT NULL,
  method_id TEXT NOT NULL,
  label TEXT NOT NULL,
  saved_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`;

export const PAYMENTS_SCHEMA = `${PAYMENTS_TABLES}
CREATE TRIGGER reversal_no_update BEFORE UPDATE ON reversal BEGIN SELECT RAISE(ABORT, 'reversal is append-only'); END;
CREATE TRIGGER reversal_no_delete BEFORE DELETE ON reversal BEGIN SELECT RAISE(ABORT, 'reversal is append-only'); END;
`;
