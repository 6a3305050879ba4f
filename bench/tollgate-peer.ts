// The product as a peer: `./tollgate serve` on a store of its own, in front of the bench's upstream, with signed
// releases for every script and an organization whose credits do not run out. Everything goes through the CLI, as an
// operator would do it.
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { OPERATOR_FILE } from "../src/domain/data-files.ts";
import { benchEnvironment, freePort, launch, readyMs } from "./processes.ts";
import { TOLLGATE, accountOf } from "./peer.ts";
import { root } from "./peers.ts";
import { SCRIPT_NAMES } from "./scripts.ts";
import { manifestOf, settingsOf } from "./tollgate-files.ts";
import type { RunningPeer, Upstream } from "./peer.ts";
import type { Process } from "./processes.ts";
import type { Target } from "./request.ts";

export interface Customer {
  organization: string;
  target: Target;
}

export interface TollgatePeer extends RunningPeer {
  process: Process;
  customer: Customer;
  scratchDir: string;
  /** Milliseconds from the start of the process to the first ready answer. */
  startedMs: number;
  /** Runs one CLI command with `--json`; rejects with its error message if it was refused. */
  cli(...args: string[]): Promise<Record<string, unknown>>;
  /** A new organization with these credits and one key. */
  newCustomer(name: string, usd: string): Promise<Customer>;
  /** Ends the process and starts it, or another program, again on the same store. */
  restart(program?: string): Promise<void>;
}

const CREDITS_USD = "100000.00";

export interface TollgateOptions {
  name?: string;
  /** Arguments before the program, e.g. `--cpu-prof`. */
  bunFlags?: string[];
  /** The environment of its process, in addition to what it inherits. */
  environment?: Record<string, string>;
  /** Default: the embedded store. */
  databaseUrl?: string;
  /** The tree that it is started from; default: this one. */
  checkout?: string;
  /** A file of that tree that serves instead of the program. */
  server?: string;
  /** The gateway whose database, keys and customer it shares. */
  replicaOf?: TollgatePeer;
  /** In addition to what every one has. */
  beside?: Beside;
}

/** Providers at the bench's upstream as items of the settings' list, and manifests by model. */
export interface Beside {
  providers: (upstreamPort: number) => string;
  manifests: Readonly<Record<string, string>>;
}

export async function startTollgate(
  upstream: Upstream,
  parentDir: string,
  {
    name = TOLLGATE,
    bunFlags = [],
    environment: own = {},
    databaseUrl,
    checkout = root,
    server,
    replicaOf,
    beside,
  }: TollgateOptions = {},
): Promise<TollgatePeer> {
  const scratchDir = join(parentDir, name);
  const dataDir = join(scratchDir, "data");
  mkdirSync(dataDir, { recursive: true });
  const port = freePort();
  const settings = join(scratchDir, "tollgate.yaml");
  const environment = { ...own, ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }) };
  const cli = (...args: string[]): Promise<Record<string, unknown>> =>
    runCli(join(checkout, "tollgate"), dataDir, args);
  await putKeys(scratchDir, cli, replicaOf);
  writeFileSync(
    settings,
    settingsOf({
      port,
      dataDir,
      upstreamPort: upstream.port,
      scratchDir,
      account: accountOf(name),
      providers: beside?.providers(upstream.port) ?? "",
    }),
  );

  const program = programOf(checkout, bunFlags, server);
  const serve = (begins: readonly string[] = program): Promise<Served> =>
    served([...begins, "serve", "--config", settings], { environment, scratchDir, port });
  const newCustomer = (name: string, usd: string): Promise<Customer> =>
    openCustomer(cli, port, { name, usd });

  const started = await serve();
  if (replicaOf === undefined) await publishReleases(cli, scratchDir, beside?.manifests);
  const customer =
    replicaOf === undefined ? await newCustomer("bench", CREDITS_USD) : atPort(replicaOf.customer, port);
  const peer: TollgatePeer = {
    ...started,
    name,
    scratchDir,
    target: customer.target,
    customer,
    cli,
    newCustomer,
    withBudget: async (usd) => {
      const { target } = await newCustomer(`budget ${crypto.randomUUID()}`, usd);
      return {
        target: () => target,
        killed: async () => {
          await peer.process.kill();
          Object.assign(peer, await serve());
        },
        end: async () => {},
      };
    },
    restart: async (other) => {
      await peer.process.stop();
      Object.assign(peer, await serve(other === undefined ? program : [other]));
    },
  };
  return peer;
}

type Served = Pick<TollgatePeer, "process" | "startedMs">;

/** Starts it, and waits until it is ready. */
async function served(
  command: string[],
  {
    environment,
    scratchDir,
    port,
  }: { environment: Record<string, string>; scratchDir: string; port: number },
): Promise<Served> {
  const sinceMs = performance.now();
  const log = join(scratchDir, "tollgate.log");
  const { process } = launch({ command, core: "gateway", environment, log });
  return { process, startedMs: await readyMs(`http://127.0.0.1:${port}/readyz`, sinceMs) };
}

/** The release keys and the data key: new, or those of the gateway whose store it shares. */
async function putKeys(scratchDir: string, cli: Cli, replicaOf: TollgatePeer | undefined): Promise<void> {
  if (replicaOf === undefined) {
    await cli("release", "keygen", "--out", join(scratchDir, "keys"));
    return;
  }
  for (const shared of ["keys", "data/data.key"])
    cpSync(join(replicaOf.scratchDir, shared), join(scratchDir, shared), { recursive: true });
}

const programOf = (checkout: string, bunFlags: readonly string[], server: string | undefined): string[] =>
  bunFlags.length === 0 && server === undefined
    ? [join(checkout, "tollgate")]
    : [join(checkout, "tollgate-bun"), ...bunFlags, join(checkout, server ?? "cli/tollgate.ts")];

const atPort = ({ target, ...customer }: Customer, port: number): Customer => ({
  ...customer,
  target: { ...target, origin: { ...target.origin, port } },
});

type Cli = TollgatePeer["cli"];

async function openCustomer(cli: Cli, port: number, terms: { name: string; usd: string }): Promise<Customer> {
  const organization = String((await cli("org", "create", "--name", terms.name))["id"]);
  const [key] = await Promise.all([
    cli("keys", "create", "--org", organization, "--name", terms.name),
    Number(terms.usd) > 0 ? cli("credits", "grant", "--org", organization, "--usd", terms.usd) : null,
  ]);
  return {
    organization,
    target: {
      origin: { hostname: "127.0.0.1", port },
      path: "/v1/chat/completions",
      headers: { Authorization: `Bearer ${String(key["secret"])}` },
    },
  };
}

async function publishReleases(
  cli: Cli,
  scratchDir: string,
  beside: Beside["manifests"] = {},
): Promise<void> {
  const publish = async ([model, text]: readonly [string, string]): Promise<void> => {
    const manifest = join(scratchDir, `${model}.yaml`);
    const signed = join(scratchDir, `${model}.jws`);
    writeFileSync(manifest, text);
    await cli("release", "sign", manifest, "--key", join(scratchDir, "keys/release.private.jwk"));
    await cli("release", "publish", signed);
  };
  const scripts = SCRIPT_NAMES.map((model) => [model, manifestOf(model)] as const);
  await Promise.all([...scripts, ...Object.entries(beside)].map(publish));
}

async function runCli(program: string, dataDir: string, args: string[]): Promise<Record<string, unknown>> {
  const child = Bun.spawn([program, ...args, "--json"], {
    env: { ...benchEnvironment(), ...operatorAccess(dataDir) },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, complaint] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  const failed = (await child.exited) !== 0;
  const printed = out === "" ? { error: complaint } : (JSON.parse(out) as Record<string, unknown>);
  // A broken ledger also exits with 1, but its audit is an answer.
  if (failed && !("violations" in printed))
    throw new Error(`tollgate ${args.join(" ")}: ${JSON.stringify(printed["error"] ?? complaint)}`);
  return printed;
}

/** Address and token that the running gateway left in its data directory; empty before its first start. */
function operatorAccess(dataDir: string): Record<string, string> {
  try {
    const operator = JSON.parse(readFileSync(join(dataDir, OPERATOR_FILE), "utf8")) as Record<string, string>;
    return {
      TOLLGATE_DATA_DIR: dataDir,
      TOLLGATE_URL: operator["url"] ?? "",
      TOLLGATE_TOKEN: operator["token"] ?? "",
    };
  } catch {
    return { TOLLGATE_DATA_DIR: dataDir };
  }
}
