// Only an unused store is filled: generated data never mixes with real data.
import type { Config } from "../../config/config.ts";
import { DATABASE_NOW } from "../../ledger/postgres/lease.ts";
import type { People } from "../../people/people.ts";
import { allOrganizations } from "../../registry/organizations.ts";
import type { OpenedStore } from "../store.ts";

/** The store cannot be filled; says why, and what to do instead. */
export class SeedRefused extends Error {
  constructor(
    message: string,
    readonly next: string,
  ) {
    super(message);
  }
}

const ELSEWHERE =
  "Fill a new directory: ./tollgate seed --data-dir /tmp/seeded (with PostgreSQL, a new database, too)";

/** What a first start creates does not count. In a shared store this process holds one lease itself. */
export async function refuseUsed({ ledger, sql }: OpenedStore): Promise<void> {
  if (sql.dialect === "postgresql") {
    const open = await sql.rows(`SELECT name FROM instance WHERE lease_until > ${DATABASE_NOW} LIMIT 2`);
    if (open.length > 1)
      throw new SeedRefused(
        "This store cannot be filled while a gateway has it open: it would end requests from days ago as lost.",
        "Stop its gateways; one that was killed counts for some seconds more. Or name a new database.",
      );
  }
  for (const { id, name } of await allOrganizations(ledger)) {
    const demo = await sql.rows("SELECT 1 FROM topup WHERE org_id = ?1 AND source = 'demo'", id);
    if (demo.length === 0)
      throw new SeedRefused(
        `This store already has organizations (${name}), and invented data must not mix with real data.`,
        ELSEWHERE,
      );
  }
}

/** Throws `SeedRefused` if releases signed with the demo's key would not be trusted. */
export function refuseTrust({ trust }: Config): void {
  if (trust !== null)
    throw new SeedRefused(
      "This configuration names the keys whose releases it trusts, but invented releases are signed with the demo's key.",
      "Run it in a directory without such a configuration, or name another one: --data-dir /tmp/seeded",
    );
}

/** Throws `SeedRefused` if somebody has an account. */
export async function refuseAccounts(people: Pick<People, "anybody">): Promise<void> {
  if (await people.anybody()) throw new SeedRefused("This store already has accounts.", ELSEWHERE);
}
