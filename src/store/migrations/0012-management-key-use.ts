// When a management key was last used, to the minute: a key that nobody uses can be revoked.
export const MANAGEMENT_KEY_USE_SCHEMA = `
ALTER TABLE management_key ADD COLUMN last_used_at INTEGER;
`;
