// A PostgreSQL server for this run, shared by all gateways, optionally with a synchronous standby. It can be killed,
// frozen and locked, and the standby can take over. The gateways reach either through one address, optionally through
// a PgBouncer in session mode.
import pg from "pg";
import { CuttingProxy } from "../test/support/cutting-proxy.ts";
import { PgBouncer } from "../test/support/pgbouncer.ts";
import { PostgresServer } from "../test/support/postgres.ts";
import {
  flipped,
  readRow,
  type RequestRow,
  type StoredRow,
  type StoreUnderTest,
  UNFINISHED,
} from "./store.ts";

/** A standby finds its primary again immediately; five seconds of refusals after each kill would test nothing new. */
const SERVER = { wal_retrieve_retry_interval: "100ms" };

/** Leases are renewed every two seconds. */
const SENT_WITHIN_MS = 2_500;

/**
 * The transactions of an organization in their order: transaction numbers of several gateways do not give it,
 * versions do.
 */
const REQUESTS = `
  WITH txn AS (SELECT org_id, txn, min(version) AS version FROM ledger_entry GROUP BY org_id, txn)
  SELECT r.*, opened.version AS opened_txn, closed.version AS closed_txn
  FROM request r
    LEFT JOIN txn opened ON opened.org_id = r.org_id AND opened.txn = r.opened_txn
    LEFT JOIN txn closed ON closed.org_id = r.org_id AND closed.txn = r.closed_txn
  ORDER BY r.admitted_at, r.request_id`;

/** The newest stream that a dead gateway left behind: its requests are the next to be ended. */
const ROTTING = `
  SELECT c.request_id, c.seq, c.sealed FROM stream_chunk c JOIN request r USING (org_id, request_id)
  WHERE r.closed_txn IS NULL ORDER BY c.request_id DESC, c.seq LIMIT 1`;

/** How the gateways reach the server, the pooler first. */
interface Way {
  proxy: CuttingProxy;
  pooler: PgBouncer | null;
}

export class PostgresStore implements StoreUnderTest {
  readonly kind = "postgres";
  readonly settings: string;

  private constructor(
    private primary: PostgresServer,
    private standby: PostgresServer | null,
    private readonly name: string,
    private readonly way: Way,
  ) {
    const url = way.proxy.through(this.url);
    this.settings = `database_url: ${way.pooler?.through(url) ?? url}`;
  }

  static async start(options: { standby: boolean; pgbouncer?: boolean }): Promise<PostgresStore> {
    const primary = await PostgresServer.start(SERVER);
    try {
      const standby = options.standby ? await primary.standby() : null;
      const { url } = await primary.database();
      const name = new URL(url).pathname;
      const proxy = await CuttingProxy.start(url);
      const pooler = options.pgbouncer === true ? await PgBouncer.start(proxy.through(url), "session") : null;
      return new PostgresStore(primary, standby, name, { proxy, pooler });
    } catch (error) {
      await primary.stop();
      throw error;
    }
  }

  /** Kills every process of the server, as a power failure would, and starts it again. */
  async kill(downMs: number): Promise<void> {
    await this.primary.crash();
    await Bun.sleep(downMs);
    await this.primary.begin();
  }

  async freeze(ms: number): Promise<void> {
    const thaw = this.primary.freeze();
    await Bun.sleep(ms);
    thaw();
  }

  /** Loses the next connection that sends the word; gives up if none sends it for a while. */
  async cut({ word, when }: { word: string; when: "before" | "after" }): Promise<void> {
    const { cuts } = this.way.proxy;
    this.way.proxy.cutAt(word, when);
    for (let waitedMs = 0; this.way.proxy.cuts === cuts && waitedMs < SENT_WITHIN_MS; waitedMs += 20)
      await Bun.sleep(20);
    this.way.proxy.spare();
  }

  /**
   * Kills the primary and promotes its standby, which had stopped receiving before: nothing acknowledged may be
   * missing.
   */
  async promote(lagMs: number): Promise<void> {
    const { standby, primary } = this;
    if (standby === null) throw new Error("there is no standby");
    const thaw = standby.freeze();
    await Bun.sleep(lagMs);
    await primary.crash();
    thaw();
    await standby.promote();
    this.primary = standby;
    this.standby = null;
    this.way.proxy.moveTo(this.url);
    await primary.stop();
  }

  /** Another session locks every balance. */
  async lock(ms: number): Promise<void> {
    await this.asked(
      "BEGIN",
      "SELECT 1 FROM org_balance ORDER BY org_id FOR UPDATE",
      `SELECT pg_sleep(${ms / 1000})`,
    );
  }

  async rot(): Promise<string | null> {
    return await this.session(async (client) => {
      const { rows } = await client.query<{ request_id: string; seq: string; sealed: Buffer }>(ROTTING);
      const [chunk] = rows;
      if (chunk === undefined) return null;
      const flip = client.query("UPDATE stream_chunk SET sealed = $1 WHERE request_id = $2 AND seq = $3", [
        Buffer.from(flipped(chunk.sealed)),
        chunk.request_id,
        chunk.seq,
      ]);
      await flip.catch(() => undefined); // the answer may be lost with the database although the bit was flipped
      return chunk.request_id;
    });
  }

  async unfinished(): Promise<number> {
    const [row] = await this.asked(UNFINISHED);
    return Number(row?.["n"]);
  }

  async requests(): Promise<RequestRow[]> {
    return (await this.asked(REQUESTS)).map(readRow);
  }

  async close(): Promise<void> {
    await this.way.pooler?.stop();
    await this.way.proxy.stop();
    await this.standby?.stop();
    await this.primary.stop();
  }

  private get url(): string {
    const url = new URL(this.primary.url);
    url.pathname = this.name;
    return url.href;
  }

  /** Runs the statements and returns the rows of the last. */
  private asked(...statements: string[]): Promise<StoredRow[]> {
    return this.session(async (client) => {
      let rows: StoredRow[] = [];
      for (const statement of statements) ({ rows } = await client.query<StoredRow>(statement));
      return rows;
    });
  }

  /** Runs `use` on a connection that is closed afterwards, which releases its locks. */
  private async session<T>(use: (client: pg.Client) => Promise<T>): Promise<T> {
    const client = new pg.Client({ connectionString: this.url });
    client.on("error", () => {}); // the statement reports it, too
    await client.connect();
    try {
      return await use(client);
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}
