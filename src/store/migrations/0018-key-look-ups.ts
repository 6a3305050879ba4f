// An organization's live keys are counted and listed without its revoked ones; the maker of a key is
// one lookup in the audit log, however long that is.
export const KEY_LOOK_UPS_SCHEMA = `
CREATE INDEX api_key_live ON api_key (org_id, created_at) WHERE revoked_at IS NULL;
CREATE INDEX api_key_revoked ON api_key (org_id, revoked_at) WHERE revoked_at IS NOT NULL;
CREATE INDEX audit_log_api_keys ON audit_log (target) WHERE action = 'key.create';
`;
