// Breakers that an operator opened by hand: a provider with a row gets no calls from any gateway.
export const BREAKERS_SCHEMA = `
CREATE TABLE provider_breaker (
  provider TEXT NOT NULL PRIMARY KEY,
  reason TEXT NOT NULL,
  opened_by TEXT NOT NULL,
  opened_at INTEGER NOT NULL
) STRICT;
`;
