// What `doctor` finds out about the store, beside a gateway that runs or where none starts, without touching it.
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../src/config/config.ts";
import { SPOOL_ASIDE_FILE, STORE_FILE } from "../src/domain/data-files.ts";
import { messageOf } from "../src/domain/error-message.ts";
import { printTime } from "../src/domain/print.ts";
import { type Finding, note, ok, refused } from "./finding.ts";

export async function storeFindings(config: Config): Promise<Finding[]> {
  const aside = join(config.dataDir, SPOOL_ASIDE_FILE);
  const spool = existsSync(aside)
    ? [
        note(
          "spool",
          `${aside} has settlements that could not be read`,
          "docs/operations.md: one record is damaged",
        ),
      ]
    : [];
  if (config.databaseUrl !== null)
    return [...(await databaseFindings(config.databaseUrl, config.dataDir)), ...spool];
  return await fileFindings(config);
}

async function fileFindings({ dataDir, trust }: Config): Promise<Finding[]> {
  const [{ openingRefusal, quarantinedIn, stoppedIn }, { peopleRefusal }] = await Promise.all([
    import("../src/store/sqlite-inspect.ts"),
    import("../src/people/open-store.ts"),
  ]);
  const refusal = openingRefusal(dataDir) ?? peopleRefusal(dataDir);
  if (refusal !== null) return [refused("store", refusal.why, refusal.wayOut)];
  if (!existsSync(join(dataDir, STORE_FILE)))
    return [ok("store", `SQLite in ${dataDir}, created at the first start`)];
  const mode = statSync(dataDir).mode & 0o777;
  return [
    (mode & 0o077) === 0
      ? ok("store", `SQLite in ${dataDir}`)
      : note(
          "store",
          `SQLite in ${dataDir}, which other users can read (mode ${mode.toString(8)})`,
          `The next start restricts it; to do it now: chmod 700 ${dataDir}`,
        ),
    ...(trust === null ? [] : [await backupFinding(dataDir)]),
    ...quarantineFindings(quarantinedIn(dataDir)),
    ...stoppedFindings(stoppedIn(dataDir)),
  ];
}

/** For a store that is not a demo. Backups made by other tools are not known here. */
async function backupFinding(dataDir: string): Promise<Finding> {
  const { isOverdue, lastBackup } = await import("../src/store/last-backup.ts");
  const last = lastBackup(dataDir);
  const found =
    last === null ? "none was made with this program" : `the last one was made at ${printTime(last.atMs)}`;
  return isOverdue(last, Date.now())
    ? note("backup", found, "./tollgate db backup FILE, and keep a copy of data.key in a separate place.")
    : ok("backup", found);
}

/** Each by its name: nobody but an operator can end it. */
const quarantineFindings = (quarantined: string[]): Finding[] =>
  quarantined.map((found) =>
    note(
      "quarantine",
      found,
      "./tollgate ledger resolve … --settle <usd> or --release, with --reason; docs/operations.md",
    ),
  );

async function databaseFindings(url: string, dataDir: string): Promise<Finding[]> {
  const [{ inspectPostgres }, { StoreFailure }] = await Promise.all([
    import("../src/store/postgres-inspect.ts"),
    import("../src/store/store-failure.ts"),
  ]);
  try {
    const { server, schema, newestSchema, gateways, quarantined, stopped } = await inspectPostgres(url, {
      dataDirectory: dataDir,
    });
    const found = `PostgreSQL ${server}, schema ${schema} of ${newestSchema}, ${gateways} gateway(s) running`;
    const store =
      schema < newestSchema
        ? note("store", found, "The next start migrates it, or ./tollgate db migrate.")
        : ok("store", found);
    return [store, ...quarantineFindings(quarantined), ...stoppedFindings(stopped)];
  } catch (error) {
    if (error instanceof StoreFailure) return [refused("store", error.why, error.wayOut)];
    return [refused("store", messageOf(error), "Correct DATABASE_URL, or start the database.")];
  }
}

/** Its paid calls are refused until its books hold again, or an operator has decided. */
const stoppedFindings = (stopped: string[]): Finding[] =>
  stopped.map((org) =>
    note(
      "stopped",
      `${org}: its books do not add up, its paid calls are refused`,
      "./tollgate ledger stopped, then docs/runbooks/TollgateOrganizationStopped.md",
    ),
  );
