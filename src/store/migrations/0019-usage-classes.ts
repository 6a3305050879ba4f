// What a charge follows from beside its totals: the classes of a request's tokens, as JSON of those that there are, NULL for none; and
// of the hour, how many were written to a cache. Older programs write neither.
export const USAGE_CLASSES_SCHEMA = `
ALTER TABLE request ADD COLUMN usage_classes TEXT;
ALTER TABLE usage_hour ADD COLUMN cache_write_tokens INTEGER NOT NULL DEFAULT 0 CHECK (cache_write_tokens >= 0);
`;
