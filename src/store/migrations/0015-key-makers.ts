// The maker of a management key, from the audit log line of its creation: older gateways keep making keys
// and write the same line. Keys belong to their maker (docs/decisions/0018-authority-is-of-persons.md).
export const KEY_MAKERS_SCHEMA = `
CREATE INDEX audit_log_key_makers ON audit_log (target) WHERE action = 'management_key.create';
`;
