import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigError, loadConfig } from "./config.ts";
import { shownSettings } from "./shown-settings.ts";

type Env = Record<string, string>;

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318/" };

function load(env: Env, yaml = "") {
  const cwd = mkdtempSync(join(tmpdir(), "tollgate-tracing-"));
  try {
    const config = join(cwd, "tollgate.yaml");
    writeFileSync(config, yaml);
    return loadConfig({ env, cwd, flags: { config } });
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}

function complaint(env: Env, yaml = ""): string {
  try {
    load(env, yaml);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error("the configuration was accepted");
}

test("nothing is traced without an endpoint", () => {
  expect(load({}).tracing).toBeNull();
  expect(load({ OTEL_SERVICE_NAME: "shop", OTEL_TRACES_SAMPLER: "always_on" }).tracing).toBeNull();
});

test("the variables of OpenTelemetry set all of it", () => {
  expect(
    load({
      ...ENDPOINT,
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=Basic%20cGs6c2s%3D, x-tenant = shop,",
      OTEL_SERVICE_NAME: "gateway",
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=prod,service.name=other",
      OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
      OTEL_TRACES_SAMPLER_ARG: "0.25",
      OTEL_EXPORTER_OTLP_TIMEOUT: "3000",
      OTEL_BSP_SCHEDULE_DELAY: "1000",
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf",
    }).tracing,
  ).toEqual({
    url: "http://collector:4318/v1/traces",
    headers: { authorization: "Basic cGs6c2s=", "x-tenant": "shop" },
    resource: { "service.name": "gateway", "deployment.environment.name": "prod" },
    sampling: { sampler: "parentbased_traceidratio", ratio: 0.25 },
    timeoutMs: 3_000,
    intervalMs: 1_000,
  });
});

test("the file sets the same; the environment overrides it, and variables for traces override those for all signals", () => {
  const yaml = "tracing: { endpoint: http://file:4318, headers: { a: b }, sampler: always_on }";
  expect(load({}, yaml).tracing).toMatchObject({
    url: "http://file:4318/v1/traces",
    headers: { a: "b" },
    resource: { "service.name": "tollgate" },
    sampling: { sampler: "always_on", ratio: 1 },
  });
  const traces = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "https://lf.example/api/public/otel/v1/traces" };
  expect(load({ ...ENDPOINT, ...traces }, yaml).tracing?.url).toBe(traces.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT);
});

test("it can be switched off whatever else is set, and an empty variable counts as unset", () => {
  expect(load({ ...ENDPOINT, OTEL_SDK_DISABLED: "true" }).tracing).toBeNull();
  expect(load({ ...ENDPOINT, OTEL_TRACES_EXPORTER: "none" }).tracing).toBeNull();
  expect(load({ OTEL_EXPORTER_OTLP_ENDPOINT: "", OTEL_TRACES_SAMPLER: "" }).tracing).toBeNull();
});

test.each<[string, Env, RegExp]>([
  [
    "gRPC",
    { ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" },
    /tracing\.protocol \(from .*\): must be http\/json/,
  ],
  ["an address that is none", { OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4318" }, /tracing\.endpoint \(from/],
  ["a sampler that nobody has", { OTEL_TRACES_SAMPLER: "jaeger_remote" }, /tracing\.sampler \(from/],
  ["a share above one", { OTEL_TRACES_SAMPLER_ARG: "1.5" }, /tracing\.sampler_ratio \(from/],
  [
    "headers that are none",
    { OTEL_EXPORTER_OTLP_HEADERS: "authorization" },
    /tracing\.headers.*must be like a=1/,
  ],
  ["a header with a line break", { OTEL_EXPORTER_OTLP_HEADERS: "a=b%0d%0ac:%20d" }, /an invalid header: a/],
])("%s is refused at the start, with the variable that said it", (_, env, message) => {
  expect(complaint(env)).toMatch(message);
});

test("the shown settings have neither address nor headers", () => {
  const shown = JSON.stringify(
    shownSettings(load({ ...ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS: "authorization=secret" })),
  );
  expect(shown).toContain("parentbased_always_on");
  expect(shown).not.toContain("secret");
  expect(shown).not.toContain("collector");
});
