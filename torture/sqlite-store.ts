// One gateway's embedded store: a file in its data directory.
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { readRow, type RequestRow, type StoredRow, type StoreUnderTest } from "./store.ts";

export class SqliteStore implements StoreUnderTest {
  readonly kind = "sqlite";
  readonly settings = "";

  constructor(private readonly dataDir: string) {}

  async lock(ms: number): Promise<void> {
    const database = this.open();
    try {
      database.run("PRAGMA busy_timeout = 1000");
      database.run("BEGIN IMMEDIATE");
      await Bun.sleep(ms);
      database.run("ROLLBACK");
    } finally {
      database.close();
    }
  }

  async unfinished(): Promise<number> {
    const database = this.open();
    try {
      return Number(
        Object.values(
          database.query("SELECT count(*) FROM request WHERE closed_txn IS NULL").get() as StoredRow,
        )[0],
      );
    } finally {
      database.close();
    }
  }

  async requests(): Promise<RequestRow[]> {
    const database = this.open();
    try {
      return (
        database.query("SELECT * FROM request ORDER BY admitted_at, request_id").all() as StoredRow[]
      ).map(readRow);
    } finally {
      database.close();
    }
  }

  async close(): Promise<void> {}

  private open(): Database {
    return new Database(join(this.dataDir, "tollgate.sqlite"), { readwrite: true, safeIntegers: true });
  }
}
