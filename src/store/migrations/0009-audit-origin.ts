// From where a change was made: the address of who called, and the id of the call. Null on the lines before, and on those
// of the gateway itself. Older gateways go on writing lines without them. The index finds who was an operator once: their
// addresses are not for members.
export const AUDIT_ORIGIN_SCHEMA = `
ALTER TABLE audit_log ADD COLUMN address TEXT;
ALTER TABLE audit_log ADD COLUMN request_id TEXT;
CREATE INDEX audit_log_former_operators ON audit_log (target) WHERE action = 'operator.remove';
`;
