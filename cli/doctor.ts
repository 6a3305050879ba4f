// `doctor` says what is configured, what is missing and what to do next, without touching anything. Exit code 1 when
// the gateway would not start as things stand.
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import type { Config } from "../src/config.ts";
import { passByProxy } from "./gateway.ts";
import { report } from "./report.ts";
import { table } from "./table.ts";

interface Finding {
  check: string;
  state: "ok" | "note" | "wrong";
  found: string;
  /** What to do; null when nothing needs doing. */
  next: string | null;
}

interface DoctorOptions {
  config?: string;
  dataDir?: string;
}

export function addDoctor(program: Command): void {
  program
    .command("doctor")
    .description("what is configured, what is missing, what to do next")
    .option("--config <file>", "configuration (TOLLGATE_CONFIG; else ./tollgate.yaml if present)")
    .action((_: object, command: Command) =>
      report(command, async () => {
        const { config, dataDir } = command.optsWithGlobals<DoctorOptions>();
        const flags = { ...(config !== undefined && { config }), ...(dataDir !== undefined && { dataDir }) };
        const findings = [...(await configFindings(flags)), ...processFindings()];
        const ok = findings.every(({ state }) => state !== "wrong");
        const next = findings.find((finding) => finding.state === "wrong")?.next ?? "./tollgate serve";
        const json = JSON.stringify({ ok, findings, next });
        return { json, text: `${describe(findings)}\n\n→ ${next}`, exitCode: ok ? 0 : 1 };
      }),
    );
}

const describe = (findings: Finding[]): string =>
  table(findings, {
    "": ({ state }) => state,
    CHECK: ({ check }) => check,
    FOUND: ({ found }) => found,
    NEXT: ({ next }) => next ?? "",
  });

async function configFindings(flags: DoctorOptions): Promise<Finding[]> {
  const { ConfigError, loadConfig } = await import("../src/config.ts");
  try {
    const config = loadConfig({ env: process.env, cwd: process.cwd(), flags });
    return [...settingFindings(config), await storeFinding(config), await gatewayFinding(config)];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map((problem) => ({
      check: "configuration",
      state: "wrong",
      found: problem,
      next: "Correct this setting; tollgate.example.yaml shows them all.",
    }));
  }
}

function settingFindings(config: Config): Finding[] {
  const { listen, trust, providers } = config;
  return [
    ok("configuration", config.file ?? "defaults, environment and flags; no file"),
    ok("address", `http://${listen.host}:${listen.port}`),
    config.publicUrl === null
      ? note("public_url", "not set: links show the listening address", "Set public_url behind a proxy.")
      : ok("public_url", config.publicUrl),
    trust === null
      ? note(
          "releases",
          "the gateway signs demo releases itself",
          "For real routes: ./tollgate release keygen --out keys, then trust.release_keys.",
        )
      : ok("releases", `${trust.releaseKeys.length} trusted key file(s)`),
    ...providers.map(providerFinding),
  ];
}

function providerFinding({ name, kind, baseUrl, apiKey }: Config["providers"][number]): Finding {
  const where = baseUrl ?? "inside this process";
  const check = `provider ${name}`;
  if (kind === "simulator") return ok(check, `simulator, ${where}`);
  if (apiKey !== null) return ok(check, `${kind}, ${where}, with a key`);
  return note(check, `${kind}, ${where}, without a key`, `Set api_key to \${NAME} if ${name} needs one.`);
}

async function storeFinding(config: Config): Promise<Finding> {
  if (config.databaseUrl !== null) return await databaseFinding(config.databaseUrl);
  const file = join(config.dataDir, "tollgate.sqlite");
  if (!existsSync(file)) return ok("store", `SQLite in ${config.dataDir}, made at the first start`);
  const mode = statSync(config.dataDir).mode & 0o077;
  if (mode !== 0)
    return {
      check: "store",
      state: "wrong",
      found: `${config.dataDir} is open to others`,
      next: `chmod 700 ${config.dataDir}`,
    };
  return ok("store", `SQLite in ${config.dataDir}`);
}

async function databaseFinding(url: string): Promise<Finding> {
  const { inspectPostgres } = await import("../src/store/postgres-inspect.ts");
  const wrong = (found: string, next: string): Finding => ({ check: "store", state: "wrong", found, next });
  try {
    const { server, schema, newestSchema, readOnly, gateways } = await inspectPostgres(url);
    const found = `PostgreSQL ${server}, schema ${schema} of ${newestSchema}, ${gateways} gateway(s) running`;
    if (readOnly) return wrong(`${found}, read-only`, "DATABASE_URL must name the primary, not a standby.");
    if (schema > newestSchema) return wrong(found, "Start the newer program that this database is of.");
    if (schema < newestSchema)
      return note("store", found, "It is brought up to date at the next start, or by ./tollgate db migrate.");
    return ok("store", found);
  } catch (error) {
    return wrong(
      error instanceof Error ? error.message : String(error),
      "Correct DATABASE_URL, or start the database.",
    );
  }
}

async function gatewayFinding({ listen, dataDir }: Config): Promise<Finding> {
  const door = existsSync(join(dataDir, "operator.json"));
  const answers = await isReady(`http://${listen.host}:${listen.port}/readyz`);
  if (answers) return ok("gateway", `running and ready${door ? "; commands find it by operator.json" : ""}`);
  return note("gateway", "not running", "Start it: ./tollgate serve");
}

async function isReady(url: string): Promise<boolean> {
  passByProxy(new URL(url));
  try {
    return (await fetch(url, { redirect: "manual", signal: AbortSignal.timeout(1000) })).ok;
  } catch {
    return false; // nobody listens: that is the finding
  }
}

/** What Bun's fetch would obey on its own (hardening.md §1). */
function processFindings(): Finding[] {
  const proxies = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"].filter(
    (name) => process.env[name],
  );
  const connections = process.env["BUN_CONFIG_MAX_HTTP_REQUESTS"];
  return [
    ok("runtime", `Bun ${Bun.version}`),
    proxies.length === 0
      ? ok("proxy variables", "none")
      : note("proxy variables", proxies.join(", "), "The gateway ignores them for provider calls."),
    connections === undefined
      ? note(
          "upstream connections",
          "256, Bun's default",
          "Start with ./tollgate, or set BUN_CONFIG_MAX_HTTP_REQUESTS=65336.",
        )
      : ok("upstream connections", `${connections} (BUN_CONFIG_MAX_HTTP_REQUESTS)`),
    ok("provider redirects", "never followed"),
  ];
}

const ok = (check: string, found: string): Finding => ({ check, state: "ok", found, next: null });
const note = (check: string, found: string, next: string): Finding => ({ check, state: "note", found, next });
