// Where the data directory is, without checking the rest: the command line looks there for a running gateway's
// address, also from a shell that lacks the providers' secrets. interfaces.md §2.
import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { parse } from "yaml";
import { OWN_NAME } from "../domain/own-name.ts";

/** The data directory that `serve` would use here, absolute. */
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
 * How a command is begun in this folder so that it finds the gateway of this directory: named where no shell finds it by itself.
 * An environment may be that of a service, or of one command.
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
