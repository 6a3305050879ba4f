// The settings of a key besides its month's limit. A paused key has `revoked_at`, too, so that an
// older program refuses it. Day and week limits count from the hours of usage; `key_hold` lists the
// open requests of keys with such a limit, so that those admitted on an earlier day can be recognized.
import { inPostgres } from "./postgres/in-postgres.ts";

const TABLES = `
ALTER TABLE api_key ADD COLUMN paused_at INTEGER;
ALTER TABLE api_key ADD COLUMN expires_at INTEGER;
ALTER TABLE api_key ADD COLUMN day_limit_nano INTEGER CHECK (day_limit_nano >= 0);
ALTER TABLE api_key ADD COLUMN week_limit_nano INTEGER CHECK (week_limit_nano >= 0);
ALTER TABLE api_key ADD COLUMN allowed_models TEXT;
ALTER TABLE api_key ADD COLUMN max_output_tokens INTEGER CHECK (max_output_tokens > 0);
CREATE INDEX api_key_paused ON api_key (org_id, created_at) WHERE paused_at IS NOT NULL;
CREATE INDEX api_key_ending ON api_key (expires_at) WHERE expires_at IS NOT NULL AND revoked_at IS NULL;
CREATE TABLE key_hold (
  org_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  request_id TEXT NOT NULL,
  PRIMARY KEY (org_id, key_id, request_id)
) STRICT, WITHOUT ROWID;
`;

/** A pause is not a revocation; a revoked key stays revoked and cannot be paused. */
const FOR_GOOD = `
DROP TRIGGER api_key_revoked_for_good;
CREATE TRIGGER api_key_revoked_for_good BEFORE UPDATE ON api_key
WHEN OLD.revoked_at IS NOT NULL AND OLD.paused_at IS NULL
  AND (NEW.revoked_at IS NOT OLD.revoked_at OR NEW.paused_at IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'a revocation is permanent'); END;
`;

/** Only SQLite has the trigger. */
export const KEY_SETTINGS_SCHEMA = { sqlite: `${TABLES}${FOR_GOOD}`, postgresql: inPostgres(TABLES) };
