// Finds the data directory without checking the other settings: the command line looks there for the address of a
// running gateway, also from a shell that lacks the providers' secrets. interfaces.md §2.
import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { parse } from "yaml";
import { OWN_NAME } from "../domain/own-name.ts";

/** Returns the absolute path of the data directory that `serve` would use here. */
export function findDataDir(from: {
  env: Record<string, string | undefined>;
  cwd: string;
  config?: string;
}): string {
  const given = from.env["TOLLGATE_DATA_DIR"];
  if (given) return resolve(from.cwd, given);
  const file = resolve(from.cwd, from.config ?? from.env["TOLLGATE_CONFIG"] ?? "tollgate.yaml");
  const written = existsSync(file) ? dataDirIn(readFileSync(file, "utf8"), from.env) : null;
  return written === null ? resolve(from.cwd, "data") : resolve(dirname(file), written);
}

/**
 * Returns the start of a command that, run in this folder, finds the gateway of this directory: with --data-dir if a
 * shell would not find it by itself. Ignores the environment, which may be that of a service, or of one command.
 */
export const commandOn = (dataDir: string, cwd = process.cwd()): string =>
  findDataDir({ env: {}, cwd }) === dataDir ? OWN_NAME : `${OWN_NAME} --data-dir ${dataDir}`;

function dataDirIn(text: string, env: Record<string, string | undefined>): string | null {
  const settings: unknown = parse(text, { maxAliasCount: 20 });
  if (typeof settings !== "object" || settings === null || !("data_dir" in settings)) return null;
  const { data_dir: dataDir } = settings;
  if (typeof dataDir !== "string") return null;
  return dataDir.replace(/\$\{(\w+)\}/g, (_, name: string) => env[name] ?? "");
}
