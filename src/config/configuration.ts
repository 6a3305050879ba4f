// The checked configuration as the rooms use it: the settings, with what only shows once all of them are read. Names and
// values are those of `settings.ts`; here are absolute paths and what one group says of another. interfaces.md §3.
import { resolve } from "node:path";
import type { Settings } from "./settings.ts";

export type Config = Omit<Settings, "payments"> & {
  /** The file that was read, absolute; null when there was none. */
  file: string | null;
  /** SHA-256 of that file as it was read, hex; null where there was none. */
  fileDigest: string | null;
  payments: Settings["payments"] & { driver: "stripe" | "manual" | "test" };
};

export type ProviderConfig = Config["providers"][number];

/** Settings that passed the schema → configuration; paths in the file count from the file's own directory. */
export function toConfig(
  settings: Settings,
  at: { file: string | null; fileDigest: string | null; fileDir: string; dataDir: string },
): Config {
  const { payments, trust } = settings;
  const usual = payments.stripe !== null ? "stripe" : trust === null ? "test" : "manual";
  return {
    ...settings,
    file: at.file,
    fileDigest: at.fileDigest,
    dataDir: at.dataDir,
    trust: trust && { releaseKeys: trust.releaseKeys.map((key) => resolve(at.fileDir, key)) },
    payments: { ...payments, driver: payments.driver ?? usual },
  };
}
