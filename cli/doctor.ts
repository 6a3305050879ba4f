// `doctor` says what is configured, what is missing and what to do next, without touching anything. Exit code 1 when
// the gateway would not start as things stand: whatever `serve` would refuse is reported in the same words.
import { existsSync } from "node:fs";
import type { Command } from "commander";
import type { Config } from "../src/config/config.ts";
import { type Finding, note, ok, refused } from "./finding.ts";
import { gatewayFindings } from "./doctor-gateway.ts";
import { storeFindings } from "./doctor-store.ts";
import { asProblem, Problem } from "./problem.ts";
import { report } from "./report.ts";
import { table } from "./table.ts";
import { shortTimes, type ShortTime } from "../src/config/short-times.ts";
import { messageOf } from "../src/domain/error-message.ts";
import { isEverywhere, listeningAddress } from "../src/lib/listening-address.ts";
import { asCalledHere, OWN_NAME } from "../src/domain/own-name.ts";
import { ignoredProxies } from "../src/lib/outbound.ts";
import { callsWithDescriptors, openFilesMax } from "../src/lib/shortage.ts";

interface DoctorOptions {
  config?: string;
  dataDir?: string;
  host?: string;
  port?: string;
  url?: string;
}

export function addDoctor(program: Command): void {
  program
    .command("doctor")
    .description("check what is configured, what is missing, and what to do next")
    .option("--config <file>", "configuration (TOLLGATE_CONFIG; else ./tollgate.yaml if present)")
    .option("--port <n>", "as you would pass it to serve")
    .option("--host <host>", "as you would pass it to serve")
    .action((_: object, command: Command) =>
      report(command, async () => {
        const flags = command.optsWithGlobals<DoctorOptions>();
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
    return [...settingFindings(config), ...(await startFindings(config, flags))];
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
  const { providers } = config;
  return [
    ok("configuration", config.file ?? "defaults, environment and flags; no file"),
    config.publicUrl === null
      ? note("public_url", "not set: links show the listening address", "Set public_url behind a proxy.")
      : ok("public_url", config.publicUrl),
    proxyFinding(config),
    ...providers.map(providerFinding),
    ...shortTimes(config).map(timeFinding),
  ];
}

/** What a start would find here: room, store, keys of releases, port. What runs has its port. */
async function startFindings(config: Config, flags: DoctorOptions): Promise<Finding[]> {
  const store = await storeFindings(config);
  const gateway = await gatewayFindings({ ...config, address: listeningAddress(config.listen) }, flags);
  return [
    await addressFinding(config, gateway.runs),
    await releasesFinding(config, store),
    descriptorsFinding(config),
    ...store,
    ...gateway.findings,
  ];
}

async function addressFinding({ listen }: Config, runs: boolean): Promise<Finding> {
  const { ListenFailure, tryPort } = await import("../src/lib/listen-failure.ts");
  try {
    if (!runs) tryPort(listen);
  } catch (error) {
    if (!(error instanceof ListenFailure)) throw error;
    return refused("address", error.message, error.next);
  }
  const address = listeningAddress(listen);
  return ok(
    "address",
    isEverywhere(listen.host) ? `${address}, and every other address of this machine` : address,
  );
}

/** The demo's key is in the data directory: if that directory cannot be used, the finding about it covers both. */
async function releasesFinding(config: Config, store: Finding[]): Promise<Finding> {
  const { trust, providers } = config;
  const { assertSigners } = await import("../src/main/releases.ts");
  try {
    if (trust !== null || store.every(({ state }) => state !== "wrong")) await assertSigners(config);
  } catch (error) {
    const problem = asProblem(error);
    return refused("releases", messageOf(error), problem instanceof Problem ? problem.next : undefined);
  }
  if (trust !== null) return ok("releases", `${trust.releaseKeys.length} trusted key file(s)`);
  return note(
    "releases",
    `the gateway signs demo releases itself${unsold(providers)}`,
    "For real routes: ./tollgate release keygen --out keys, then trust.release_keys.",
  );
}

/** The demo models are served by the simulator only. */
function unsold(providers: Config["providers"]): string {
  const others = providers.map(({ name }) => name).filter((name) => name !== "simulator");
  return others.length === 0 ? "" : `; nothing from ${others.join(", ")} is sold`;
}

const timeFinding = ({ setting, ms }: ShortTime): Finding =>
  note(
    "times",
    `${setting} is ${ms} ms: most calls end before they are answered`,
    `It is in milliseconds: ${ms} seconds are ${ms * 1000}.`,
  );

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
    `${found}: ${fit} concurrent calls, not limits.max_concurrent's ${maxConcurrent}`,
    "Raise it (LimitNOFILE of a service, ulimits of a container), or lower limits.max_concurrent.",
  );
}

function proxyFinding({ outbound: { proxy } }: Config): Finding {
  if (proxy !== null) return ok("outbound proxy", new URL(proxy.url).host);
  const ignored = ignoredProxies(process.env);
  return ignored.length === 0
    ? ok("outbound proxy", "none: providers are reached directly")
    : note(
        "outbound proxy",
        `none; ${ignored.join(", ")} ignored`,
        "Set outbound.proxy if providers are reached through it.",
      );
}

/** As this shell may name them; the runtime only warns of a file that it cannot read. */
function authorityFindings(): Finding[] {
  const file = process.env["NODE_EXTRA_CA_CERTS"];
  if (file === undefined || file === "") return [];
  return [
    existsSync(file)
      ? ok("more authorities", `${file} (NODE_EXTRA_CA_CERTS)`)
      : refused(
          "more authorities",
          `NODE_EXTRA_CA_CERTS: there is no file ${file}`,
          "Correct the path, or unset it.",
        ),
  ];
}

/** What the runtime would otherwise decide on its own (hardening.md §1). */
function processFindings(): Finding[] {
  const connections = process.env["BUN_CONFIG_MAX_HTTP_REQUESTS"];
  return [
    ok("runtime", `Bun ${Bun.version}`),
    ...authorityFindings(),
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
