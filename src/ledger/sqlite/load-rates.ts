// The rate limits that a batch is decided on, inside the write transaction. Nobody asks where an organization has none: its
// balance, and the routes of the model, say so.
import type { Database, Statement } from "bun:sqlite";
import type { RateDefaults, RatePlace } from "../../domain/rate-limits.ts";
import type { Cell } from "../cell.ts";
import { selected } from "../column-loads.ts";
import { LOAD } from "../columns.ts";
import { hasDefaults, unknownTo } from "../decide/rate.ts";
import { putOpenRequests, putRateLimit } from "../put-rows.ts";
import { rowId, type Rows } from "../rows.ts";

type Reading = Statement<unknown, string[]>;

function limitsOneOf(rows: Rows, routes: readonly { route: string }[]): boolean {
  for (const { route } of routes) if (rows.routes.get(route)?.limited === 1) return true;
  return false;
}

export class SqliteRates {
  private readonly limits: Reading;
  private readonly running: Reading;
  private readonly always: boolean;

  constructor(
    database: Database,
    private readonly defaults: RateDefaults,
  ) {
    this.always = hasDefaults(defaults);
    this.limits = database.prepare<unknown, string[]>(
      `SELECT ${selected(LOAD.rateLimit, "l")} FROM rate_limit l
       WHERE l.org_id = ?1 AND l.key_id IN ('', ?2) AND l.model IN ('', ?3)
       UNION ALL
       SELECT ${selected(LOAD.rateLimit, "l")} FROM rate_limit l
       WHERE l.org_id = '' AND l.key_id = '' AND l.model = ?3`,
    );
    // All that run are fewer than all that an organization ever sent.
    this.running = database.prepare<unknown, string[]>(
      `SELECT ?1, ?2, ?3, count(*) FROM request INDEXED BY request_unfinished
       WHERE state = 'dispatched' AND org_id = ?1 AND (?2 = '' OR key_id = ?2) AND (?3 = '' OR model = ?3)`,
    );
  }

  /** Of a request that comes, for which there may be limits. */
  ofAdmission(rows: Rows, place: RatePlace, routes: readonly { route: string }[]): void {
    if (!this.mayLimit(rows, place) && !limitsOneOf(rows, routes)) return;
    this.load(rows, place);
    for (const { organizationId, keyId, model } of unknownTo(rows, place, this.defaults))
      for (const cells of this.running.values(organizationId, keyId, model))
        putOpenRequests(rows, cells as Cell[]);
  }

  /** Of a request that ends. */
  ofRequest(rows: Rows, place: RatePlace): void {
    if (this.mayLimit(rows, place)) this.load(rows, place);
  }

  private mayLimit(rows: Rows, { organizationId }: RatePlace): boolean {
    return this.always || rows.balances.get(organizationId)?.limited === 1;
  }

  /** Once in a batch for each. */
  private load(rows: Rows, { organizationId, keyId, model }: RatePlace): void {
    const place = rowId(organizationId, keyId, model);
    if (rows.ratesAsked.has(place)) return;
    rows.ratesAsked.add(place);
    for (const cells of this.limits.values(organizationId, keyId, model)) putRateLimit(rows, cells as Cell[]);
  }
}
