// Finds the store that a `db` command works on, as `serve` does.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import { STORE_FILE } from "../src/domain/data-files.ts";
import { Problem } from "./problem.ts";

export const withConfig = (command: Command): Command =>
  command.option("--config <file>", "configuration (TOLLGATE_CONFIG; else ./tollgate.yaml if present)");

/** The store that `serve` would use here. */
export async function storeOf(command: Command): Promise<{ dataDir: string; databaseUrl: string | null }> {
  const { config, dataDir } = command.optsWithGlobals<Place>();
  const { ConfigError, findStore } = await import("../src/config/config.ts");
  const flags = { ...(config !== undefined && { config }), ...(dataDir !== undefined && { dataDir }) };
  try {
    return findStore({ env: process.env, cwd: process.cwd(), flags });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new Problem(error.message, "Correct these settings; tollgate.example.yaml shows them all.");
  }
}

interface Place {
  config?: string;
  dataDir?: string;
}

/** The data directory alone, for work on it that does not depend on which store the configuration names. */
export async function dataDirOf(command: Command): Promise<string> {
  const { config, dataDir } = command.optsWithGlobals<Place>();
  if (dataDir !== undefined) return resolve(dataDir);
  const { findDataDir } = await import("../src/config/data-dir.ts");
  return findDataDir({ env: process.env, cwd: process.cwd(), ...(config !== undefined && { config }) });
}

export const storeIn = (dataDir: string): string => join(dataDir, STORE_FILE);

export async function assertStore(dataDir: string): Promise<void> {
  if (existsSync(storeIn(dataDir))) return;
  const { closedBy } = await import("../src/store/sqlite.ts");
  const closed = closedBy(dataDir);
  if (closed !== null) throw closed;
  throw new Problem(
    `There is no store at ${storeIn(dataDir)}.`,
    "Name the data directory with --data-dir, or its configuration with --config.",
  );
}
