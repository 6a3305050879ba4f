// What an operator accepted with the resume of an organization: the audit lists it apart from what nobody has accepted
// (docs/decisions/0091-accepted-findings.md). An older program neither writes nor reads it.
export const ACCEPTED_FINDINGS_SCHEMA = `
-- JSON: the violations in entries that cannot be repaired. Null: none.
ALTER TABLE stopped_organization ADD COLUMN accepted TEXT;
`;
