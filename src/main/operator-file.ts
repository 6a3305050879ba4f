// `operator.json` in the data directory: where the command line finds this gateway and the key it operates it with
// (interfaces.md §2). A new key at each start; the one before is revoked, and its own when the gateway stops. In a store that
// several gateways share the next start may have another directory: there a key lasts no longer than somebody renews it, so
// that of a gateway that was killed ends by itself. Of several gateways in one directory one has the file; another one follows it.
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
/** Often: a clock that is set right leaves the command line outside for so long at most. */
const RENEW_EVERY_MS = 600_000;

/** So long the command line finds no gateway where the one that had the file has ended and another runs on. */
const TAKE_EVERY_MS = 2_000;

/** A store that is away keeps nobody from ending. */
const REVOKED_WITHIN_MS = 2_000;

interface OperatorFileOn {
  ledger: Transactions;
  dataDir: string;
  /** What it works with: `doctor` compares. */
  configuration: { file: string | null; digest: string | null };
  /** Other gateways have the same store: in directories of their own, as they should, or in this one. */
  shared: boolean;
  jobs: Jobs;
  log: Log;
}

export interface OperatorFile {
  /** Revokes the key of this run, where this gateway wrote it; a store that is away keeps it to its end. */
  stop(): Promise<void>;
}

/** That the file is this gateway's. */
interface Taken {
  keyId: string;
  /** Null where the store has locked the whole directory. */
  lock: DirectoryLock | null;
}

/**
 * Makes the management key of this run, writes the file (mode 0600) and revokes the key of the run before. A gateway whose
 * directory another one runs in shares that one's file until that one has ended, and then takes it; so does a worker `beside`
 * another. Whoever has the directory renews the key in it.
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

/** Null while another gateway has the file. */
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

/** The key that the directory's file names lives on. */
export async function renewOperatorKey({
  ledger,
  dataDir,
}: Pick<OperatorFileOn, "ledger" | "dataDir">): Promise<void> {
  const id = keyIdIn(join(dataDir, OPERATOR_FILE));
  if (id !== null) await renewManagementKey(ledger, id, LIVES_MS);
}

/** The id of the new key. */
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
  // A new file, renamed into place: a reader sees the old key or the new one, and never somebody else's mode bits.
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
    return null; // a torn or foreign file names no key of ours
  }
}
