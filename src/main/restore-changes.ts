// What was set up, changed or ended after a backup was made, for whoever has to do it again: a restore has it as in the
// backup.
import { columnNames, type Restoring } from "./restoring.ts";

/** Each as `API key key_… of org_…`, by kind. */
export interface ChangedSince {
  /** Made since the backup: gone. */
  made: string[];
  /** Has the settings of the backup again. */
  changed: string[];
  /** Removed since the backup: there again. */
  ended: string[];
}

interface Compared {
  what: string;
  table: string;
  /** How a row is called, as SQL: the same in both stores, and one row's alone. */
  name: string;
  /** Rows that no longer count are left out, as SQL. */
  stands: string;
  /** What somebody sets; a column that either store lacks is not compared. */
  settings: string;
}

const PAUSED_OR_ACTIVE = "(revoked_at IS NULL OR paused_at IS NOT NULL)";

const COMPARED: readonly Compared[] = [
  { what: "organization", table: "organization", name: "org_id", stands: "1", settings: "name" },
  {
    what: "API key",
    table: "api_key",
    name: "key_id || ' of ' || org_id",
    stands: PAUSED_OR_ACTIVE,
    settings: "name allowed_models limit_nano day_limit_nano week_limit_nano expires_at max_output_tokens",
  },
  {
    what: "management key",
    table: "management_key",
    name: "id || ' (' || name || ')'",
    // Each start and each login of a terminal makes one of its own.
    stands: "revoked_at IS NULL AND login_of IS NULL AND name <> 'operator.json'",
    settings: "expires_at",
  },
  {
    what: "limits",
    table: "rate_limit",
    name: "trim(CASE key_id WHEN '' THEN '' ELSE key_id || ' of ' END || org_id || ' ' || model)",
    stands:
      "coalesce(own_requests_per_minute, own_tokens_per_minute, own_concurrent, requests_per_minute, tokens_per_minute, concurrent) IS NOT NULL",
    settings:
      "requests_per_minute tokens_per_minute concurrent own_requests_per_minute own_tokens_per_minute own_concurrent",
  },
  {
    what: "entitlement",
    table: "entitlement",
    name: "id || ' of ' || org_id || ' to ' || model",
    stands: "state <> 'revoked'",
    settings: "state expires_at",
  },
  {
    what: "alert channel",
    table: "alert_channel",
    name: "channel_id || ' of ' || org_id || ' (' || name || ')'",
    stands: "removed_at IS NULL",
    settings: "target",
  },
  {
    what: "alert rule",
    table: "alert_rule",
    name: "rule_id || ' (' || kind || ') of ' || org_id",
    stands: "1",
    settings: "channels key_id enabled percent days amount",
  },
  {
    what: "provider out of service",
    table: "provider_breaker",
    name: "provider",
    stands: "1",
    settings: "reason",
  },
];

/** Call once the copy has what a restore carries over: that did not change. */
export function changedSince(on: Restoring): ChangedSince {
  const since: ChangedSince = { made: [], changed: [], ended: [] };
  for (const compared of COMPARED) {
    const [now, before] = [rowsOf(on, "copy", compared), rowsOf(on, "replaced", compared)];
    if (now === null || before === null) continue;
    const told = (name: string): string => `${compared.what} ${name}`;
    for (const [name, settings] of before) {
      const had = now.get(name);
      if (had === undefined) since.made.push(told(name));
      else if (had !== settings) since.changed.push(told(name));
    }
    for (const name of now.keys()) if (!before.has(name)) since.ended.push(told(name));
  }
  return since;
}

/** Name → settings as one text, by name; null if an older schema does not know what the other has. */
function rowsOf(
  on: Restoring,
  side: keyof Restoring,
  { table, name, stands, settings }: Compared,
): Map<string, string> | null {
  const [copy, replaced] = [columnNames(on.copy, table), columnNames(on.replaced, table)];
  const both = (column: string): boolean => copy.includes(column) && replaced.includes(column);
  if (copy.length === 0 || replaced.length === 0 || !columnsIn(stands).every(both)) return null;
  const columns = settings.split(" ").filter(both);
  const rows = on[side]
    .query(`SELECT ${name}, ${columns.join(", ")} FROM ${table} WHERE ${stands} ORDER BY 1`)
    .values();
  return new Map(rows.map(([called, ...set]) => [String(called), set.map(String).join("\n")]));
}

/** The names of columns in a condition of `COMPARED`. */
const columnsIn = (sql: string): string[] => sql.match(/\b[a-z]+(?:_[a-z]+)+\b/g) ?? [];
