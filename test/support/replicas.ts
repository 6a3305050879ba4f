// Several gateway processes on one PostgreSQL database, with one simulator as their provider.
import { ProcessGateway } from "./process-gateway.ts";
import type { TestDatabase, TestPostgres } from "./postgres.ts";

export class Replicas {
  private constructor(
    readonly gateways: readonly ProcessGateway[],
    readonly database: TestDatabase,
  ) {}

  static async start(
    count: number,
    postgres: Pick<TestPostgres, "migrated">,
    settings = "",
  ): Promise<Replicas> {
    const database = await postgres.migrated();
    const env = { DATABASE_URL: database.url };
    const first = await ProcessGateway.start(env, settings);
    const others = await Promise.all(Array.from({ length: count - 1 }, () => first.beside(env)));
    return new Replicas([first, ...others], database);
  }

  get first(): ProcessGateway {
    return this.at(0);
  }

  /** In turn. */
  at(index: number): ProcessGateway {
    const gateway = this.gateways[index % this.gateways.length];
    if (gateway === undefined) throw new Error("no gateways");
    return gateway;
  }

  balance(organizationId: string): Promise<{ available_usd: string; held_usd: string; spent_usd: string }> {
    return this.first.admin("GET", `/credits?org=${organizationId}`);
  }

  audit(): Promise<{ ok: boolean; violations: unknown[] }> {
    return this.first.admin("GET", "/ledger/audit");
  }

  simulate(behaviour: object): Promise<Response> {
    const { url } = this.first.simulator;
    return fetch(`${url}/_sim`, { method: "POST", body: JSON.stringify({ behaviour }) });
  }

  /** The number of calls that the provider has received. */
  async calls(): Promise<number> {
    const bill = await (await fetch(`${this.first.simulator.url}/_sim/ledger`)).json();
    return (bill as { calls: unknown[] }).calls.length;
  }

  async stop(): Promise<void> {
    for (const gateway of this.gateways.toReversed()) await gateway.stop();
    await this.database.drop();
  }
}
