// What a charge follows from besides its totals: the token classes of a request, as JSON of those
// present, NULL for none; and per hour, the tokens written to a cache. Older programs write neither.
export const USAGE_CLASSES_SCHEMA = `
ALTER TABLE request ADD COLUMN usage_classes TEXT;
ALTER TABLE usage_hour ADD COLUMN cache_write_tokens INTEGER NOT NULL DEFAULT 0 CHECK (cache_write_tokens >= 0);
`;
