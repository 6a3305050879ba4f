// `doctor` says what is configured, what is missing and what to do next, without touching anything. Exit code 1 when
// the gateway would not start as things stand.
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import type { Config } from "../src/config/config.ts";
import { SPOOL_ASIDE_FILE, STORE_FILE } from "../src/domain/data-files.ts";
import { type Finding, note, ok } from "./finding.ts";
import { gatewayFindings } from "./doctor-gateway.ts";
import { printTime } from "../src/domain/print.ts";
import { report } from "./report.ts";
import { table } from "./table.ts";
import { messageOf } from "../src/domain/error-message.ts";
import { isEverywhere, listeningAddress } from "../src/lib/listening-address.ts";
import { asCalledHere, OWN_NAME } from "../src/domain/own-name.ts";
import { callsWithDescriptors, openFilesMax } from "../src/lib/shortage.ts";

interface DoctorOptions {
  config?: string;
  dataDir?: string;
  url?: string;
}

export function addDoctor(program: Command): void {
  program
    .command("doctor")
    .description("what is configured, what is missing, what to do next")
    .option("--config <file>", "configuration (TOLLGATE_CONFIG; else ./tollgate.yaml if present)")
    .action((_: object, command: Command) =>
      report(command, async () => {
        const { config, dataDir, url } = command.optsWithGlobals<DoctorOptions>();
        const flags = {
          ...(config !== undefined && { config }),
          ...(dataDir !== undefined && { dataDir }),
          ...(url !== undefined && { url }),
        };
        const findings = [...(await configFindings(flags)), ...processFindings()].map(withOwnName);
        const ok = findings.every(({ state }) => state !== "wrong");
        const runs = findings.some(({ check, state }) => check === "gateway" && state === "ok");
        const wrong = findings.find((finding) => finding.state === "wrong");
        const unsold = findings.find(({ check, state }) => check === "routes" && state === "note");
        const next = wrong?.next ?? (runs ? (unsold?.next ?? `${OWN_NAME} --help`) : `${OWN_NAME} serve`);
        const json = JSON.stringify({ ok, findings, next });
        return { json, text: `${describe(findings)}\n\n→ ${next}`, exitCode: ok ? 0 : 1 };
      }),
    );
}

const withOwnName = (finding: Finding): Finding =>
  finding.next === null ? finding : { ...finding, next: asCalledHere(finding.next) };

const describe = (findings: Finding[]): string =>
  table(findings, {
    STATE: ({ state }) => state,
    CHECK: ({ check }) => check,
    FOUND: ({ found }) => found,
    NEXT: ({ next }) => next ?? "",
  });

async function configFindings(flags: DoctorOptions): Promise<Finding[]> {
  const { ConfigError, loadConfig } = await import("../src/config/config.ts");
  try {
    const config = loadConfig({ env: process.env, cwd: process.cwd(), flags });
    return [
      ...settingFindings(config),
      descriptorsFinding(config),
      ...(await storeFindings(config)),
      ...(await gatewayFindings({ ...config, address: listeningAddress(config.listen) }, flags)),
    ];
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
    ok(
      "address",
      isEverywhere(listen.host)
        ? `${listeningAddress(listen)}, and every other address of this machine`
        : listeningAddress(listen),
    ),
    config.publicUrl === null
      ? note("public_url", "not set: links show the listening address", "Set public_url behind a proxy.")
      : ok("public_url", config.publicUrl),
    trust === null
      ? note(
          "releases",
          `the gateway signs demo releases itself${unsold(providers)}`,
          "For real routes: ./tollgate release keygen --out keys, then trust.release_keys.",
        )
      : ok("releases", `${trust.releaseKeys.length} trusted key file(s)`),
    ...providers.map(providerFinding),
  ];
}

/** The demo is of the simulator alone. */
function unsold(providers: Config["providers"]): string {
  const others = providers.map(({ name }) => name).filter((name) => name !== "simulator");
  return others.length === 0 ? "" : `; nothing of ${others.join(", ")} is sold`;
}

function providerFinding({ name, kind, baseUrl, own }: Config["providers"][number]): Finding {
  const what = `${kind.name}, ${baseUrl ?? "inside this process"}`;
  const check = `provider ${name}`;
  const { setting, needed } = kind.credential;
  if (kind.credential.given(own)) return ok(check, `${what}, with a key`);
  if (!needed) return ok(check, what);
  return note(check, `${what}, without a key`, `Set ${setting} to \${NAME} if ${name} needs one.`);
}

/** As this shell may have them; a service's own may be more or fewer. */
function descriptorsFinding({ limits: { maxConcurrent } }: Config): Finding {
  const most = openFilesMax();
  const fit = callsWithDescriptors(most);
  const found = `${most ?? "no bound"} (ulimit -n)`;
  if (fit === null || fit >= maxConcurrent) return ok("open files", found);
  return note(
    "open files",
    `${found}: ${fit} calls at once, not limits.max_concurrent's ${maxConcurrent}`,
    "Raise it (LimitNOFILE of a service, ulimits of a container), or lower limits.max_concurrent.",
  );
}

async function storeFindings(config: Config): Promise<Finding[]> {
  const aside = join(config.dataDir, SPOOL_ASIDE_FILE);
  const spool = existsSync(aside)
    ? [
        note(
          "spool",
          `${aside} has settlements that could not be read`,
          "docs/operations.md: one record is damaged",
        ),
      ]
    : [];
  if (config.databaseUrl !== null) return [...(await databaseFindings(config.databaseUrl)), ...spool];
  return await fileFindings(config);
}

async function fileFindings(config: Config): Promise<Finding[]> {
  const file = join(config.dataDir, STORE_FILE);
  const { closedBy } = await import("../src/store/sqlite.ts");
  const closed = closedBy(config.dataDir);
  if (closed !== null)
    return [wrongStore(closed.why, `${closed.wayOut.slice(0, 1).toUpperCase()}${closed.wayOut.slice(1)}.`)];
  if (!existsSync(file)) return [ok("store", `SQLite in ${config.dataDir}, made at the first start`)];
  const mode = statSync(config.dataDir).mode & 0o077;
  if (mode !== 0) return [wrongStore(`${config.dataDir} is open to others`, `chmod 700 ${config.dataDir}`)];
  const { movingTo, openingRefusal, quarantinedIn, stoppedIn } = await import(
    "../src/store/sqlite-inspect.ts"
  );
  try {
    const moving = movingTo(config.dataDir);
    if (moving !== null)
      return [wrongStore(moving, "Run the same ./tollgate db move --to … again, or --abandon it.")];
    const refusal = openingRefusal(config.dataDir);
    if (refusal !== null)
      return [wrongStore(refusal, "See docs/operations.md, The data directory and Upgrades.")];
    return [
      ok("store", `SQLite in ${config.dataDir}`),
      ...(config.trust === null ? [] : [await backupFinding(config.dataDir)]),
      ...quarantineFindings(quarantinedIn(config.dataDir)),
      ...stoppedFindings(stoppedIn(config.dataDir)),
    ];
  } catch (error) {
    const said = messageOf(error);
    return [
      wrongStore(`${file} cannot be read: ${said}`, "Put the last backup back: ./tollgate db restore FILE."),
    ];
  }
}

/** Of a store that is no demo. Copies that other tools make are not known here. */
async function backupFinding(dataDir: string): Promise<Finding> {
  const { isOverdue, lastBackup } = await import("../src/store/last-backup.ts");
  const last = lastBackup(dataDir);
  const found = last === null ? "none was made from here" : `the last one is of ${printTime(last.atMs)}`;
  return isOverdue(last, Date.now())
    ? note("backup", found, "./tollgate db backup FILE, and keep a copy of data.key apart from it.")
    : ok("backup", found);
}

const wrongStore = (found: string, next: string): Finding => ({
  check: "store",
  state: "wrong",
  found,
  next,
});

/** Each by its name: nobody but an operator can end it. */
const quarantineFindings = (quarantined: string[]): Finding[] =>
  quarantined.map((found) =>
    note(
      "quarantine",
      found,
      "./tollgate ledger resolve … --settle <usd> or --release, with --reason; docs/operations.md",
    ),
  );

/** Its paid calls are refused until its books hold again, or an operator has decided. */
const stoppedFindings = (stopped: string[]): Finding[] =>
  stopped.map((org) =>
    note(
      "stopped",
      `${org}: its books do not add up, its paid calls are refused`,
      "./tollgate ledger stopped, then docs/runbooks/TollgateOrganizationStopped.md",
    ),
  );

async function databaseFindings(url: string): Promise<Finding[]> {
  const { inspectPostgres } = await import("../src/store/postgres-inspect.ts");
  const wrong = (found: string, next: string): Finding[] => [wrongStore(found, next)];
  try {
    const { server, schema, newestSchema, readOnly, moving, gateways, quarantined, stopped } =
      await inspectPostgres(url);
    const found = `PostgreSQL ${server}, schema ${schema} of ${newestSchema}, ${gateways} gateway(s) running`;
    if (readOnly) return wrong(`${found}, read-only`, "DATABASE_URL must name the primary, not a standby.");
    if (moving)
      return wrong(
        `${found}, closed by a move that is not complete`,
        "Run the same ./tollgate db move --to … again, or --abandon it.",
      );
    if (schema > newestSchema) return wrong(found, "Start the newer program that this database is of.");
    if (schema < newestSchema)
      return [
        note("store", found, "It is brought up to date at the next start, or by ./tollgate db migrate."),
      ];
    return [ok("store", found), ...quarantineFindings(quarantined), ...stoppedFindings(stopped)];
  } catch (error) {
    return wrong(messageOf(error), "Correct DATABASE_URL, or start the database.");
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
