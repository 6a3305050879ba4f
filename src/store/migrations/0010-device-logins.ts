// Logins of the command line (RFC 8628): what a terminal asked for, until it was decided and the result fetched.
// Only digests of both codes are kept. The resulting management key expires by itself and records whose it is.
export const DEVICE_LOGINS_SCHEMA = `
ALTER TABLE management_key ADD COLUMN expires_at INTEGER;
ALTER TABLE management_key ADD COLUMN login_of TEXT;

CREATE TABLE device_login (
  id TEXT NOT NULL PRIMARY KEY,
  device_digest TEXT NOT NULL UNIQUE,
  user_digest TEXT NOT NULL UNIQUE,
  state TEXT NOT NULL CHECK (state IN ('open', 'approved', 'declined', 'fetched')),
  host TEXT NOT NULL,
  version TEXT NOT NULL,
  address TEXT,
  asked_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  decided_by TEXT,
  polled_at INTEGER,
  interval_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX device_login_asked ON device_login (asked_at);

CREATE TABLE device_try (
  place TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX device_try_place ON device_try (place, at);
`;
