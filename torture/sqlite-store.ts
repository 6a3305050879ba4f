// One gateway's embedded store: a file in its data directory.
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { STORE_FILE } from "../src/domain/data-files.ts";
import {
  flipped,
  readRow,
  type RequestRow,
  type StoredRow,
  type StoreUnderTest,
  UNFINISHED,
} from "./store.ts";

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

  async rot(): Promise<string | null> {
    const database = this.open();
    try {
      database.run("PRAGMA busy_timeout = 1000");
      const chunk = database
        .query<{ request_id: string; seq: bigint; sealed: Uint8Array }, []>(
          `SELECT c.request_id, c.seq, c.sealed FROM stream_chunk c JOIN request r USING (org_id, request_id)
           WHERE r.closed_txn IS NULL ORDER BY c.request_id DESC, c.seq LIMIT 1`,
        )
        .get();
      if (chunk === null) return null;
      database
        .query("UPDATE stream_chunk SET sealed = ? WHERE request_id = ? AND seq = ?")
        .run(flipped(chunk.sealed), chunk.request_id, chunk.seq);
      return chunk.request_id;
    } finally {
      database.close();
    }
  }

  async unfinished(): Promise<number> {
    const database = this.open();
    try {
      return Number(database.query<{ n: bigint }, []>(UNFINISHED).get()?.n);
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
    return new Database(join(this.dataDir, STORE_FILE), { readwrite: true, safeIntegers: true });
  }
}
