// Settings from the environment and from flags, laid over those of the file. interfaces.md §3.

/** Flags of `serve`, as text. */
export interface Flags {
  config?: string;
  port?: string;
  host?: string;
  dataDir?: string;
}

/** One value from outside the file, and where it came from (`PORT`, `--port`). */
export interface Override {
  path: [string] | [string, string];
  value: string;
  source: string;
}

const ENVIRONMENT: Record<string, Override["path"]> = {
  PORT: ["listen", "port"],
  HOST: ["listen", "host"],
  DATABASE_URL: ["database_url"],
  TOLLGATE_DATA_DIR: ["data_dir"],
  STRIPE_SECRET_KEY: ["payments", "stripe_secret_key"],
  STRIPE_WEBHOOK_SECRET: ["payments", "stripe_webhook_secret"],
  TOLLGATE_LOG_LEVEL: ["log", "level"],
};
const FLAGS: Record<Exclude<keyof Flags, "config">, Omit<Override, "value">> = {
  port: { path: ["listen", "port"], source: "--port" },
  host: { path: ["listen", "host"], source: "--host" },
  dataDir: { path: ["data_dir"], source: "--data-dir" },
};

export function environmentOverrides(env: Record<string, string | undefined>): Override[] {
  return Object.entries(ENVIRONMENT).flatMap(([source, path]) => {
    const value = env[source];
    return value === undefined ? [] : [{ path, value, source }];
  });
}

export function flagOverrides(flags: Flags): Override[] {
  return (["port", "host", "dataDir"] as const).flatMap((flag) => {
    const value = flags[flag];
    return value === undefined ? [] : [{ ...FLAGS[flag], value }];
  });
}

/** Numbers arrive as text here; a text that is no number is left for the schema to refuse. */
export function applyOverride(values: unknown, { path, value }: Override): unknown {
  if (typeof values !== "object" || values === null || Array.isArray(values)) return values;
  const [head, next] = path;
  const typed = next === "port" && /^\d{1,7}$/.test(value) ? Number(value) : value;
  if (next === undefined) return { ...values, [head]: typed };
  const inner: unknown = (values as Record<string, unknown>)[head] ?? {};
  if (typeof inner !== "object" || Array.isArray(inner)) return values;
  return { ...values, [head]: { ...inner, [next]: typed } };
}
