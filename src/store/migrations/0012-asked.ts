// What a request that held nothing asked for, and the number of requests in one row: beyond a quota,
// similar requests are counted in one row.
export const ASKED_SCHEMA = `
ALTER TABLE journal ADD COLUMN requests INTEGER NOT NULL DEFAULT 1;
-- Arrival of the last one; null in rows of earlier releases.
ALTER TABLE journal ADD COLUMN last_at INTEGER;
-- What it would have held and for how many tokens; null where it was refused before it had a price.
ALTER TABLE journal ADD COLUMN prompt_bound INTEGER;
ALTER TABLE journal ADD COLUMN prompt_counted INTEGER;
ALTER TABLE journal ADD COLUMN output_bound INTEGER;
ALTER TABLE journal ADD COLUMN hold INTEGER;
-- JSON: the figures that the refusal named.
ALTER TABLE journal ADD COLUMN details TEXT;
`;
