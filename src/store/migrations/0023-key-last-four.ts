// The last four characters of a key, stored when it is made: nothing else in the store reveals them. Earlier keys have none.
export const KEY_LAST_FOUR_SCHEMA = "ALTER TABLE api_key ADD COLUMN last_four TEXT;\n";
