// The last four characters of a key, kept when it is made: nothing else in the store tells them. Keys of before have none.
export const KEY_LAST_FOUR_SCHEMA = "ALTER TABLE api_key ADD COLUMN last_four TEXT;\n";
