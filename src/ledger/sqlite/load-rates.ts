// Loads the rate limits that a batch is decided on, inside the write transaction. Nothing is loaded
// for an organization without limits, as its balance and the routes of the model show.
import type { Database, Statement } from "bun:sqlite";
import type { RateDefaults, RatePlace } from "../../domain/rate-limits.ts";
import { ByPlace } from "../by-place.ts";
import type { Cell } from "../cell.ts";
import { selected } from "../column-loads.ts";
import { LOAD } from "../columns.ts";
import { hasDefaults, unknownTo } from "../decide/rate.ts";
import { putOpenRequests, putRateLimit } from "../put-rows.ts";
import type { Rows } from "../rows.ts";

/** Selects one row by its key: a list of values would cost a temporary table each time. */
const at = (org: string, key: string, model: string): string =>
  `SELECT ${selected(LOAD.rateLimit, "l")} FROM rate_limit l
   WHERE l.org_id = ${org} AND l.key_id = ${key} AND l.model = ${model}`;

type Reading = Statement<unknown, string[]>;

function limitsOneOf(rows: Rows, routes: readonly { route: string }[]): boolean {
  for (const { route } of routes) if (rows.routes.get(route)?.limited === 1) return true;
  return false;
}

export class SqliteRates {
  private readonly limits: Reading;
  private readonly running: Reading;
  private readonly always: boolean;
  private readonly asked = new ByPlace<true>();

  constructor(
    database: Database,
    private readonly defaults: RateDefaults,
  ) {
    this.always = hasDefaults(defaults);
    this.limits = database.prepare<unknown, string[]>(
      [
        at("?1", "''", "''"),
        at("?1", "?2", "''"),
        at("?1", "''", "?3"),
        at("?1", "?2", "?3"),
        at("''", "''", "?3"),
      ].join(" UNION ALL "),
    );
    // The running requests of all organizations are fewer than all requests that one organization ever sent.
    this.running = database.prepare<unknown, string[]>(
      `SELECT ?1, ?2, ?3, count(*) FROM request INDEXED BY request_unfinished
       WHERE state = 'dispatched' AND org_id = ?1 AND (?2 = '' OR key_id = ?2) AND (?3 = '' OR model = ?3)`,
    );
  }

  /** Starts another batch, for which nothing has been loaded yet. */
  begin(): void {
    this.asked.forget();
  }

  /** Loads the limits of a new request, if there may be any. */
  ofAdmission(rows: Rows, place: RatePlace, routes: readonly { route: string }[]): void {
    const onModel = limitsOneOf(rows, routes);
    if (!onModel && !this.mayLimit(rows, place)) return;
    this.load(rows, place);
    // A subject without a row can be limited only by these.
    if (!this.always && !onModel) return;
    for (const { organizationId, keyId, model } of unknownTo(rows, place, this.defaults))
      for (const cells of this.running.values(organizationId, keyId, model))
        putOpenRequests(rows, cells as Cell[]);
  }

  /** Loads the limits of a request that ends. */
  ofRequest(rows: Rows, place: RatePlace): void {
    if (this.mayLimit(rows, place)) this.load(rows, place);
  }

  private mayLimit(rows: Rows, { organizationId }: RatePlace): boolean {
    return this.always || rows.balances.get(organizationId)?.limited === 1;
  }

  /** Loads each place once per batch. */
  private load(rows: Rows, place: RatePlace): void {
    this.asked.get(place, () => {
      const { organizationId, keyId, model } = place;
      for (const cells of this.limits.values(organizationId, keyId, model))
        putRateLimit(rows, cells as Cell[]);
      return true;
    });
  }
}
