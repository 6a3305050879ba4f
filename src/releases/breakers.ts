// Breakers that an operator opened by hand. They are kept in the store, so that they survive a restart and
// apply at every gateway of it; each gateway passes them to its own health.
import type { Clock } from "../lib/clock.ts";
import { numberOf, type Sql, type Statement, statement, textOf } from "../store/sql.ts";
import type { Health } from "./health.ts";

export interface OpenedBreaker {
  reason: string;
  /** The id of a person. */
  openedBy: string;
  openedAtMs: number;
}

export interface BreakersPorts {
  sql: Sql;
  clock: Clock;
  health: Pick<Health, "holdOpen">;
}

/** The breakers as this gateway last read them; `load` reads them again. */
export class Breakers {
  private opened: ReadonlyMap<string, OpenedBreaker> = new Map();

  constructor(private readonly on: BreakersPorts) {}

  of(provider: string): OpenedBreaker | null {
    return this.opened.get(provider) ?? null;
  }

  /** Reads the breakers from the store. */
  async load(): Promise<void> {
    const rows = await this.on.sql.rows("SELECT * FROM provider_breaker");
    this.opened = new Map(
      rows.map((row) => [
        textOf(row["provider"]),
        {
          reason: textOf(row["reason"]),
          openedBy: textOf(row["opened_by"]),
          openedAtMs: numberOf(row["opened_at"]),
        },
      ]),
    );
    this.on.health.holdOpen(new Map([...this.opened].map(([name, { openedAtMs }]) => [name, openedAtMs])));
  }

  /** False if it was open already; the first reason is kept. `told`: its audit line, written with it. */
  async open(
    provider: string,
    { reason, openedBy }: Pick<OpenedBreaker, "reason" | "openedBy">,
    told: Statement,
  ): Promise<boolean> {
    const opening = statement(
      `INSERT INTO provider_breaker (provider, reason, opened_by, opened_at) VALUES (?1, ?2, ?3, ?4)
       ON CONFLICT (provider) DO NOTHING`,
      provider,
      reason,
      openedBy,
      this.on.clock.nowMs(),
    );
    return await this.change(opening, told);
  }

  /** False if it was not open. `told`: as for `open`. */
  close(provider: string, told: Statement): Promise<boolean> {
    return this.change(statement("DELETE FROM provider_breaker WHERE provider = ?1", provider), told);
  }

  private async change(change: Statement, told: Statement): Promise<boolean> {
    const changed = await this.on.sql.ifChanged(change, [told]);
    await this.load();
    return changed;
  }
}
