// `operator.json` in the data directory: where the command line finds this gateway and its management key
// (interfaces.md §2). Each start creates a new key and revokes the previous one; a stop revokes its own. In a
// store shared by several gateways the next start may use another directory, so there a key expires unless it
// is renewed, and the key of a killed gateway ends. Of several gateways in one directory one owns the file;
// the others wait to take it over.
import { OPERATOR_FILE } from "../domain/data-files.ts";
import { DAY_MS } from "../domain/durations.ts";
import { byItself, START } from "../domain/actor.ts";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { mintManagementKey } from "../registry/secret.ts";
import type { Transactions } from "../ledger/ledger.ts";
import { newId } from "../lib/id.ts";
import type { Jobs } from "../lib/jobs.ts";
import type { Log } from "../lib/log.ts";
import { within } from "../lib/within.ts";
import { type DirectoryLock, lockDirectory } from "../store/directory-lock.ts";
import { StoreFailure } from "../store/store-failure.ts";
import { createManagementKey, renewManagementKey, revokeManagementKey } from "../registry/management-keys.ts";

const LIVES_MS = DAY_MS;
/** Frequent, because a corrected clock can lock the command line out for this long. */
const RENEW_EVERY_MS = 600_000;

/**
 * How long the command line finds no gateway after the owner of the file has ended while another still runs.
 */
const TAKE_EVERY_MS = 2_000;

/** An unreachable store must not keep the process from ending. */
const REVOKED_WITHIN_MS = 2_000;

interface OperatorFileOn {
  ledger: Transactions;
  dataDir: string;
  /** The configuration in use, for `doctor` to compare. */
  configuration: { file: string | null; digest: string | null };
  /** Other gateways use the same store: from their own directories, as they should, or from this one. */
  shared: boolean;
  jobs: Jobs;
  log: Log;
}

export interface OperatorFile {
  /**
   * Revokes the key of this run, if this gateway wrote it; if the store is unreachable, the key works until
   * it expires.
   */
  stop(): Promise<void>;
}

/** The state of owning the file. */
interface Taken {
  keyId: string;
  /** Null if the store has locked the whole directory. */
  lock: DirectoryLock | null;
}

/**
 * Creates the management key of this run, writes the file (mode 0600) and revokes the key of the previous
 * run. If another gateway runs in the directory, its file is shared until it ends, and then taken over; the
 * same goes for a worker `beside` another. Every gateway in the directory renews the key in it.
 */
export async function openOperatorFile(
  on: OperatorFileOn,
  { url, beside }: { url: string; beside: boolean },
): Promise<OperatorFile> {
  let taken = beside ? null : await take(on, url);
  const rounds = on.shared ? [on.jobs.every("operator_key", RENEW_EVERY_MS, () => renewOperatorKey(on))] : [];
  if (taken === null) {
    if (!beside)
      on.log.warn(
        { data_dir: on.dataDir },
        "another gateway runs in this data directory, and the command line talks to that one; give each gateway its own with --data-dir",
      );
    rounds.push(
      on.jobs.every("operator_file", TAKE_EVERY_MS, async () => {
        taken ??= await take(on, url);
      }),
    );
  }
  return {
    stop: async () => {
      await Promise.all(rounds.map((round) => round.stop()));
      if (taken === null) return;
      const revoked = revokeManagementKey(on.ledger, taken.keyId, byItself("stop"));
      await within(revoked, REVOKED_WITHIN_MS).catch((error: unknown) =>
        on.jobs.failed("operator_key", error),
      );
      taken.lock?.release();
    },
  };
}

/** Null while another gateway owns the file. */
async function take(on: OperatorFileOn, url: string): Promise<Taken | null> {
  const lock = on.shared ? lockUnlessTaken(on.dataDir) : null;
  if (lock === "taken") return null;
  try {
    return { keyId: await write(on, url), lock };
  } catch (error) {
    lock?.release();
    throw error;
  }
}

function lockUnlessTaken(dataDir: string): DirectoryLock | "taken" {
  try {
    return lockDirectory(dataDir, "operator");
  } catch (error) {
    if (error instanceof StoreFailure && error.reason === "locked") return "taken";
    throw error;
  }
}

/** Extends the life of the key in the directory's file. */
export async function renewOperatorKey({
  ledger,
  dataDir,
}: Pick<OperatorFileOn, "ledger" | "dataDir">): Promise<void> {
  const id = keyIdIn(join(dataDir, OPERATOR_FILE));
  if (id !== null) await renewManagementKey(ledger, id, LIVES_MS);
}

/** Returns the id of the new key. */
async function write(
  { ledger, dataDir, configuration, shared }: OperatorFileOn,
  url: string,
): Promise<string> {
  const file = join(dataDir, OPERATOR_FILE);
  const previous = keyIdIn(file);
  const id = newId("mk");
  const { prefix, digest, value } = mintManagementKey(id);
  const actor = byItself(START);
  await createManagementKey(
    ledger,
    { id, name: OPERATOR_FILE, prefix, digest, ...(shared && { livesMs: LIVES_MS }) },
    actor,
  );
  // Written to a new file and renamed: a reader sees the old key or the new one, and the file never has
  // another owner's mode bits.
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, `${JSON.stringify({ url, token: value, id, configuration })}\n`, { mode: 0o600 });
  renameSync(fresh, file);
  if (previous !== null) await revokeManagementKey(ledger, previous, actor);
  return id;
}

function keyIdIn(file: string): string | null {
  if (!existsSync(file)) return null;
  try {
    const { id } = JSON.parse(readFileSync(file, "utf8")) as { id?: unknown };
    return typeof id === "string" ? id : null;
  } catch {
    return null; // a torn or foreign file contains no key of ours
  }
}
