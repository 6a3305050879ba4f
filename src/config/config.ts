// The configuration (interfaces.md §3): defaults ← tollgate.yaml ← environment ← flags, checked as a whole before
// anything listens. A complaint names the field's path and where it was set, and stops the start (S11).
import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { isJsonObject } from "../domain/read-value.ts";
import { z } from "zod";
import { messageOf } from "../domain/error-message.ts";
import type { ProviderKind } from "../providers/kind.ts";
import { PROVIDER_KINDS } from "../providers/kinds.ts";
import { describePlace, fieldOf, NO_SUCH_SETTING, readIssues, settingError } from "./complaint.ts";
import { type Config, toConfig } from "./configuration.ts";
import {
  applyOverride,
  environmentOverrides,
  type Flags,
  flagOverrides,
  type Override,
} from "./overrides.ts";
import { nearSettings } from "./near-setting.ts";
import { type Path, type Problem, parseSettingsFile, type SettingsFile } from "./settings-file.ts";
import { type Settings, settingsSchema } from "./settings.ts";

export type { Config, ProviderConfig } from "./configuration.ts";

export interface ConfigInput {
  env: Record<string, string | undefined>;
  cwd: string;
  flags: Flags;
  /** The kinds of providers that the configuration may name; absent = all that are built in. */
  kinds?: readonly ProviderKind[];
}

/** The configuration is unusable. The message has one line per problem: file, line, path, what is wrong. */
export class ConfigError extends Error {
  constructor(readonly problems: string[]) {
    super(problems.join("\n"));
    this.name = "ConfigError";
  }
}

/** Reads and checks the whole configuration. Throws `ConfigError`. */
export function loadConfig(input: ConfigInput): Config {
  const path = settingsPath(input);
  return checked(input, path, path === null ? NO_FILE : readSettings(path, input.env));
}

/** The settings that locate the store. */
const OF_STORE = ["data_dir", "database_url"];

/**
 * Locates the store exactly as `loadConfig` does, for commands that need nothing else: their shell may lack the
 * secrets of providers. Throws `ConfigError`.
 */
export function findStore(input: ConfigInput): Pick<Config, "dataDir" | "databaseUrl"> {
  const path = settingsPath(input);
  const file = path === null ? NO_FILE : readSettings(path, input.env);
  const concerns = ([first]: Path): boolean => first === undefined || OF_STORE.includes(String(first));
  const values = isJsonObject(file.values)
    ? Object.fromEntries(Object.entries(file.values).filter(([name]) => concerns([name])))
    : file.values;
  const env = Object.fromEntries(
    ["DATABASE_URL", "TOLLGATE_DATA_DIR"].map((name) => [name, input.env[name]]),
  );
  const problems = file.problems.filter((problem) => concerns(problem.path));
  return checked({ ...input, env }, path, { ...file, values, problems });
}

/** `path` is the file's; null if there is none. */
function checked(input: ConfigInput, path: string | null, file: SettingsFile): Config {
  const overrides = [...environmentOverrides(input.env), ...flagOverrides(input.flags)];
  const name = (at: Path, line?: number): string => describePlace(at, { path, file, overrides, line });
  const fileProblems = file.problems.map(({ path: at, line, message }) => `${name(at, line)}: ${message}`);
  if (fileProblems.length > 0) throw new ConfigError(fileProblems);

  const parsed = settingsSchema(input.kinds ?? PROVIDER_KINDS).safeParse(
    overrides.reduce(applyOverride, file.values),
    { error: settingError },
  );
  if (!parsed.success) {
    const problems = readIssues(parsed.error.issues);
    const schema = z.toJSONSchema(settingsSchema(input.kinds ?? PROVIDER_KINDS), { io: "input" });
    const hint = ({ path: at, message }: Problem): string => {
      const near = message === NO_SUCH_SETTING ? nearSettings(at, schema) : [];
      return near.length === 0 ? "" : `. Did you mean ${near.map(fieldOf).join(" or ")}?`;
    };
    throw new ConfigError(
      problems.map((problem) => `${name(problem.path)}: ${problem.message}${hint(problem)}`),
    );
  }
  const { cwd } = input;
  const fileDir = path === null ? cwd : dirname(path);
  const config = toConfig(withDemoProvider(parsed.data, input), {
    file: path,
    fileDigest: file.digest,
    fileDir,
    dataDir: resolve(dataDirIsOfFile(file, overrides) ? fileDir : cwd, parsed.data.dataDir),
  });
  const missing = (config.trust?.releaseKeys ?? []).flatMap((key, index) =>
    existsSync(key) ? [] : [`${name(["trust", "release_keys", index])}: there is no file ${key}`],
  );
  if (missing.length > 0) throw new ConfigError(missing);
  return config;
}

/**
 * Adds the simulator, which serves the demo models that a gateway without trust signs itself, whatever other
 * providers it has.
 */
function withDemoProvider(settings: Settings, { kinds = PROVIDER_KINDS }: ConfigInput): Settings {
  const usual = settingsSchema(kinds).safeParse({}).data?.providers ?? [];
  const missing = usual.filter(({ name }) => settings.providers.every((given) => given.name !== name));
  return settings.trust === null ? { ...settings, providers: [...settings.providers, ...missing] } : settings;
}

/** Paths in the file are relative to the file; those of defaults, environment and flags to the working directory. */
function dataDirIsOfFile(file: SettingsFile, overrides: Override[]): boolean {
  return file.lineOf(["data_dir"]) !== null && !overrides.some(({ path }) => path[0] === "data_dir");
}

const NO_FILE: SettingsFile = { values: {}, problems: [], lineOf: () => null, digest: null };

function settingsPath({ env, cwd, flags }: ConfigInput): string | null {
  const named = flags.config ?? env["TOLLGATE_CONFIG"];
  if (named !== undefined) {
    if (named === "") throw new ConfigError(["TOLLGATE_CONFIG: is set but empty; unset it or name a file"]);
    if (!existsSync(resolve(cwd, named)))
      throw new ConfigError([`${named}: there is no such configuration file`]);
    return resolve(cwd, named);
  }
  const usual = resolve(cwd, "tollgate.yaml");
  if (existsSync(usual)) return usual;
  // Falling back to the defaults would silently start a gateway that nobody wanted.
  for (const other of ["tollgate.yml", "tollgate.json"])
    if (existsSync(resolve(cwd, other)))
      throw new ConfigError([`${other}: is not read; rename it to tollgate.yaml, or use --config ${other}`]);
  return null;
}

function readSettings(path: string, env: ConfigInput["env"]): SettingsFile {
  try {
    return parseSettingsFile(readFileSync(path, "utf8"), env);
  } catch (error) {
    throw new ConfigError([`${path}: cannot be read: ${messageOf(error)}`]);
  }
}
