// SQL for the tokens that a request wrote to a cache, from its stored classes (`printClasses`): for
// sums over requests. Damaged classes do not fail a sum; their request is a violation of I8.
import type { SqlDialect } from "./sql.ts";

export const WRITTEN_TOKENS: Readonly<Record<SqlDialect, string>> = {
  sqlite: `CASE WHEN json_valid(usage_classes)
  THEN CAST(ifnull(json_extract(usage_classes, '$.cacheWriteTokens'), 0) AS INTEGER) ELSE 0 END`,
  postgresql: `coalesce(substring(usage_classes FROM '"cacheWriteTokens":([0-9]{1,15})')::bigint, 0)`,
};
