// Changes the data key of a PostgreSQL store. No gateway starts in the meantime; one that slept until then
// finds its lease gone, and gets no new one with the old key.
import type { Client } from "pg";
import { openPostgresLedger } from "../ledger/postgres/ledger.ts";
import { DATABASE_NOW } from "../ledger/postgres/lease.ts";
import { messageOf } from "../domain/error-message.ts";
import { aloud, type Say } from "../lib/aloud.ts";
import { crashPoint } from "../lib/crash-point.ts";
import { dataKeyCheck, drawNextDataKey, hasNextDataKey, takeNextDataKey } from "../store/data-key.ts";
import { keepStartsOut } from "../store/postgres-migrate.ts";
import { runOnPostgres } from "../store/postgres-sql.ts";
import { connectLong, openPostgresStore, type PostgresStore, whoseTurn } from "../store/postgres.ts";
import { errorKind, openingFailure, placeOf } from "../store/postgres-error.ts";
import { StoreFailure } from "../store/store-failure.ts";
import { AS_A_START } from "./resolve-running.ts";
import { type RotateAsk, rotated, type Rotation } from "./rotating.ts";

/** Requests left by other gateways stay theirs until their lease has expired, plus some seconds. */
const ENDED_WITHIN_MS = 30_000;
const LOOK_EVERY_MS = 250;

/** Null if an earlier run had already committed. */
export async function rotatePostgres(on: RotateAsk, url: string): Promise<Rotation | null> {
  const begun = hasNextDataKey(on.dataDir);
  const store = await openPostgresStore(url, on.dataDir, { say: on.say });
  try {
    if (begun && !hasNextDataKey(on.dataDir)) return null;
    await aloud(
      on.say,
      () => "requests that gateways left behind to end",
      () => resolveLeft(store),
    );
    return await rotateIn(store, on);
  } finally {
    await store.close();
  }
}

async function rotateIn(store: PostgresStore, on: RotateAsk): Promise<Rotation> {
  const client = await connectLong(store.url, "rotate key").catch((error: unknown) => {
    throw openingFailure(error, store.url, "DATABASE_URL");
  });
  try {
    await client.query("BEGIN");
    const nowMs = await shutOut(client, store, on.say);
    const change = { from: store.dataKey, to: drawNextDataKey(on.dataDir) };
    crashPoint("rotate_drawn");
    const rotating = { run: running(client), people: true, nowMs };
    const rotation = await rotated(rotating, change, on);
    await client.query("COMMIT");
    crashPoint("rotate_committed");
    if (takeNextDataKey(on.dataDir, dataKeyCheck(change.to)) === null)
      throw new Error("the new key is not where it was created");
    return rotation;
  } catch (error) {
    throw wasLost(error, store.url);
  } finally {
    await client.end(); // rolls back what is not committed
  }
}

/** If the server refuses, everything is rolled back; if the connection is lost, the outcome is unknown. */
function wasLost(error: unknown, url: string): unknown {
  if (error instanceof StoreFailure || errorKind(error) !== "store") return error;
  return new StoreFailure(
    "database",
    `${placeOf(url)} was lost or ran out of space midway (${messageOf(error)})`,
    "the store has either the old key or the new one, and both are here: run this again when it is back to find out which",
  );
}

const running =
  (client: Client) =>
  <T>(query: Parameters<typeof runOnPostgres<T>>[1]): Promise<T> =>
    runOnPostgres(client, query);

/**
 * Keeps gateways out until the end of the transaction, and those that slept for good; returns the database's
 * time.
 */
async function shutOut(client: Client, { url, dataKey: from }: PostgresStore, say: Say): Promise<number> {
  const holder = async (): Promise<string> => (await whoseTurn(url)) ?? "whose is not known";
  await aloud(
    say,
    async () => `another gateway's migration of the database: ${await holder()}`,
    () => keepStartsOut(client),
  );
  const { rows } = await client.query<{ data_key_check: Buffer; now: string }>(
    `SELECT data_key_check, ${DATABASE_NOW} AS now FROM store_state WHERE id = 1 FOR UPDATE`,
  );
  const [state] = rows;
  if (state === undefined || !state.data_key_check.equals(dataKeyCheck(from)))
    throw new StoreFailure(
      "data_key",
      "another run of this command has just changed the data key of this database",
      "copy data.key from there",
    );
  await assertNobody(client);
  await client.query("UPDATE instance SET condemned = true, lease_until = 0");
  return Number(state.now);
}

/**
 * Ends open requests of gateways as a start does, including those spooled here: a spool is sealed with the
 * old key.
 */
async function resolveLeft(store: PostgresStore): Promise<void> {
  const from = await store.nextEpoch();
  const ledger = await openPostgresLedger({ store, ...AS_A_START });
  try {
    const own = { from, to: await store.nextEpoch() };
    const untilMs = performance.now() + ENDED_WITHIN_MS;
    for (;;) {
      await assertNobody(store.pool, own);
      const open = await openRequests(store.pool);
      if (open === 0) return;
      if (performance.now() > untilMs)
        throw new StoreFailure(
          "database",
          `${open} requests left behind by gateways have not ended yet`,
          "run this again in a minute, or start a gateway and look at its log",
        );
      await Bun.sleep(LOOK_EVERY_MS);
    }
  } finally {
    await ledger.close();
  }
}

/** The epochs before and after the ones that this process took. */
interface Own {
  from: number;
  to: number;
}

const NONE: Own = { from: 0, to: 0 };

/**
 * Throws while a gateway has the database open. Compares epochs, because containers share names and process
 * ids: a gateway that started while this process opened its ledger is found once that is closed.
 */
async function assertNobody(on: Pick<Client, "query">, own = NONE): Promise<void> {
  const { rows } = await on.query<{ name: string }>(
    `SELECT name FROM instance WHERE NOT condemned AND lease_until > ${DATABASE_NOW} AND NOT (epoch > $1 AND epoch < $2) LIMIT 1`,
    [own.from, own.to],
  );
  const [gateway] = rows;
  if (gateway !== undefined) throw runs(gateway.name);
}

/** Excludes those that wait for an operator. */
async function openRequests(on: Pick<Client, "query">): Promise<number> {
  const { rows } = await on.query<{ count: string }>(
    `SELECT count(*)::text AS count FROM request r WHERE r.closed_txn IS NULL AND NOT EXISTS
       (SELECT 1 FROM quarantine q WHERE q.org_id = r.org_id AND q.request_id = r.request_id AND q.decided_at IS NULL)`,
  );
  return Number(rows[0]?.count);
}

function runs(gateway: string): StoreFailure {
  const [host, pid] = gateway.split(" ");
  return new StoreFailure(
    "locked",
    `a gateway is running on this database (${host}, process ${pid})`,
    "stop all gateways first (one that was killed counts for ten more seconds): nothing was changed",
  );
}
