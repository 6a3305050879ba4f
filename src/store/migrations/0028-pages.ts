// Lists that once came whole are read page by page, each in its order (docs/decisions/0094-lists-that-came-whole.md).
export const PAGES_SCHEMA = `
CREATE INDEX organization_created ON organization (created_at, org_id);
CREATE INDEX management_key_created ON management_key (created_at, id);
CREATE INDEX entitlement_place ON entitlement (created_at, id);
-- It does what entitlement_created does, and keeps the order of equal times.
CREATE INDEX entitlement_place_of_organization ON entitlement (org_id, created_at, id);
CREATE INDEX entitlement_waiting ON entitlement (created_at, id) WHERE state = 'requested';
CREATE INDEX entitlement_ending ON entitlement (expires_at, id) WHERE state = 'active';
`;
