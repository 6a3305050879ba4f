// The Idempotency-Key of a refused or replayed request, so that people can search for it.
export const JOURNAL_KEYS_SCHEMA = `
ALTER TABLE journal ADD COLUMN idempotency_key TEXT;
CREATE INDEX journal_keys ON journal (org_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
`;
