// Who made a management key, from the line that its creation left in the audit log: older gateways go on making keys, and
// leave the same line. Keys belong to their maker (docs/decisions/0018-authority-is-of-persons.md).
export const KEY_MAKERS_SCHEMA = `
CREATE INDEX audit_log_key_makers ON audit_log (target) WHERE action = 'management_key.create';
`;
