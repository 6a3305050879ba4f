// The checked configuration as the rooms use it: the settings, and what follows from all of them together. Names and
// values are those of `settings.ts`; added here are absolute paths and defaults of one group that depend on another.
// interfaces.md §3.
import { resolve } from "node:path";
import type { Settings } from "./settings.ts";

export type Config = Omit<Settings, "payments"> & {
  /** The absolute path of the file that was read; null if there was none. */
  file: string | null;
  /** SHA-256 of that file as it was read, hex; null if there was none. */
  fileDigest: string | null;
  payments: Settings["payments"] & { driver: "stripe" | "manual" | "test" };
};

export type ProviderConfig = Config["providers"][number];

/** Converts settings that passed the schema; paths in the file are relative to the file's own directory. */
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
