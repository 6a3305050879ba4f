// What the store keeps of running streams, from time to time.
import pg from "pg";
import { waitFor } from "./wait.ts";

/** Waits until this PostgreSQL has something of a running stream: it is charged if its gateway is killed now. */
export async function untilProgressKept(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const kept = "SELECT 1 FROM request WHERE closed_txn IS NULL AND delivered_tokens > 0";
  try {
    await waitFor(async () => (await client.query(kept)).rows.length > 0, "a stream's progress in the store");
  } finally {
    await client.end();
  }
}
