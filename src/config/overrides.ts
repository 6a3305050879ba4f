// Settings from the environment and from flags, which override those of the file. interfaces.md §3.

/** Flags of `serve`, as text. */
export interface Flags {
  config?: string;
  port?: string;
  host?: string;
  dataDir?: string;
}

/** One value from outside the file, and its source (`PORT`, `--port`). */
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
  OTEL_TRACES_EXPORTER: ["tracing", "exporter"],
  OTEL_EXPORTER_OTLP_ENDPOINT: ["tracing", "endpoint"],
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: ["tracing", "traces_endpoint"],
  OTEL_EXPORTER_OTLP_PROTOCOL: ["tracing", "protocol"],
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: ["tracing", "protocol"],
  OTEL_EXPORTER_OTLP_HEADERS: ["tracing", "headers"],
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: ["tracing", "headers"],
  OTEL_EXPORTER_OTLP_TIMEOUT: ["tracing", "timeout_ms"],
  OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: ["tracing", "timeout_ms"],
  OTEL_BSP_SCHEDULE_DELAY: ["tracing", "interval_ms"],
  OTEL_SERVICE_NAME: ["tracing", "service_name"],
  OTEL_RESOURCE_ATTRIBUTES: ["tracing", "resource"],
  OTEL_TRACES_SAMPLER: ["tracing", "sampler"],
  OTEL_TRACES_SAMPLER_ARG: ["tracing", "sampler_ratio"],
};
/** Settings with numeric values. */
const NUMBERS = new Set(["port", "timeout_ms", "interval_ms", "sampler_ratio"]);
const FLAGS: Record<Exclude<keyof Flags, "config">, Omit<Override, "value">> = {
  port: { path: ["listen", "port"], source: "--port" },
  host: { path: ["listen", "host"], source: "--host" },
  dataDir: { path: ["data_dir"], source: "--data-dir" },
};

export function environmentOverrides(env: Record<string, string | undefined>): Override[] {
  const otelIsOff = env["OTEL_SDK_DISABLED"]?.toLowerCase() === "true";
  return Object.entries(ENVIRONMENT).flatMap(([source, path]) => {
    const value = env[source];
    if (source.startsWith("OTEL_") && (value === "" || otelIsOff)) return []; // as OpenTelemetry specifies
    return value === undefined ? [] : [{ path, value, source }];
  });
}

export function flagOverrides(flags: Flags): Override[] {
  return (["port", "host", "dataDir"] as const).flatMap((flag) => {
    const value = flags[flag];
    return value === undefined ? [] : [{ ...FLAGS[flag], value }];
  });
}

/** Applies one override. A number is given as text here; text that is not a number is left for the schema to reject. */
export function applyOverride(values: unknown, { path, value }: Override): unknown {
  if (typeof values !== "object" || values === null || Array.isArray(values)) return values;
  const [head, next] = path;
  const isNumber = NUMBERS.has(next ?? head) && /^\d{1,7}(\.\d{1,9})?$/.test(value);
  const typed = isNumber ? Number(value) : value;
  if (next === undefined) return { ...values, [head]: typed };
  const inner: unknown = (values as Record<string, unknown>)[head] ?? {};
  if (typeof inner !== "object" || Array.isArray(inner)) return values;
  return { ...values, [head]: { ...inner, [next]: typed } };
}
