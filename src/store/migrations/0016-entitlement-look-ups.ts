// An admission finds the one entitlement that opens a model, and a request for an entitlement is
// counted among its organization's, however many there have been.
export const ENTITLEMENT_LOOK_UPS_SCHEMA = `
CREATE INDEX entitlement_active ON entitlement (org_id, model, expires_at) WHERE state = 'active';
CREATE INDEX entitlement_requested ON entitlement (org_id) WHERE state = 'requested';
CREATE INDEX entitlement_created ON entitlement (org_id, created_at);
`;
