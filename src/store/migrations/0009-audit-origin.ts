// The origin of a change: the caller's address and the id of the call. Null on earlier lines and on
// those of the gateway itself. Older gateways keep writing lines without them. The index finds former
// operators, whose addresses are not shown to members.
export const AUDIT_ORIGIN_SCHEMA = `
ALTER TABLE audit_log ADD COLUMN address TEXT;
ALTER TABLE audit_log ADD COLUMN request_id TEXT;
CREATE INDEX audit_log_former_operators ON audit_log (target) WHERE action = 'operator.remove';
`;
