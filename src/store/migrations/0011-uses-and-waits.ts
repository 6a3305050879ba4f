// Figures for people that no decision depends on: when a management key was last used, and how long a
// repeat waited for the answer of the request that it repeats.
export const USES_AND_WAITS_SCHEMA = `
ALTER TABLE management_key ADD COLUMN last_used_at INTEGER;

-- Of a replay: milliseconds from its arrival to its answer.
ALTER TABLE journal ADD COLUMN waited_ms INTEGER;

`;
