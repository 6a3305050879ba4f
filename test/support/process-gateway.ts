// A gateway in a separate process, for tests that kill it: `tollgate serve` on its own store, with this test's
// simulator as the provider, so that the provider's bill outlives the gateway. `stop` ends it by its process id.
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Simulator, startSimulator } from "../../src/providers/simulator/server.ts";
import { parseManifest } from "../../src/releases/manifest.ts";
import { generateReleaseKey, readReleaseKey, type ReleaseKey } from "../../src/releases/release-key.ts";
import { signRelease } from "../../src/releases/signature.ts";
import { type Arriving, post, type Received, received } from "./arriving.ts";
import { placeMigratedStore } from "./migrated-store.ts";
import { PROGRAM, SOURCES } from "./program.ts";
import { waitFor } from "./wait.ts";
import { PLAIN, type TestManifest } from "./models.ts";

export type { Arriving, Received } from "./arriving.ts";

const DAY_MS = 86_400_000;

/** Waits until each of these streams has so many parts. */
export const untilParts = (streams: readonly Arriving[], count: number): Promise<void> =>
  waitFor(
    async () => streams.every(({ sofar }) => sofar.text.split("\n\n").length > count),
    `${count} parts of each stream`,
  );

export class ProcessGateway {
  private child: Bun.Subprocess | null = null;
  /** A program other than the one under test; used from the next `run` on. */
  program: string | null = null;
  url = "";
  private token = "";
  /** True if the simulator ends with this gateway. */
  private ownsSimulator = true;

  private constructor(
    readonly folder: string,
    readonly simulator: Simulator,
    private readonly signer: ReleaseKey,
  ) {}

  /**
   * Starts it with the model `plain-1` published. `env` is passed to the process, `settings` go into its
   * configuration.
   */
  static async start(
    env: Record<string, string> = {},
    settings = "",
    program: string | null = null,
  ): Promise<ProcessGateway> {
    const folder = mkdtempSync(join(tmpdir(), "tollgate-process-"));
    const simulator = await startSimulator({ port: 0 });
    const { privateJwk, publicJwk } = await generateReleaseKey();
    writeFileSync(join(folder, "trust.jwk"), JSON.stringify(publicJwk));
    writeFileSync(
      join(folder, "tollgate.yaml"),
      `listen: { host: 127.0.0.1, port: 0 }
data_dir: ${join(folder, "data")}
trust: { release_keys: [ ${join(folder, "trust.jwk")} ] }
providers:
  - { name: simulator, kind: simulator, base_url: "${simulator.url}/v1" }
${settings}
`,
    );
    if (env["DATABASE_URL"] === undefined && program === null) {
      mkdirSync(join(folder, "data"), { mode: 0o700 });
      placeMigratedStore(join(folder, "data"));
    }
    const gateway = new ProcessGateway(folder, simulator, await readReleaseKey(privateJwk));
    gateway.program = program;
    await gateway.run(env);
    await gateway.publish(PLAIN);
    return gateway;
  }

  /**
   * Another gateway of the same installation: same trust, provider and data key, but its own data directory.
   * `program` may be of another release.
   */
  async beside(env: Record<string, string> = {}, program: string | null = null): Promise<ProcessGateway> {
    const folder = mkdtempSync(join(tmpdir(), "tollgate-process-"));
    const settings = readFileSync(join(this.folder, "tollgate.yaml"), "utf8");
    writeFileSync(join(folder, "tollgate.yaml"), settings.replaceAll(this.folder, folder));
    copyFileSync(join(this.folder, "trust.jwk"), join(folder, "trust.jwk"));
    mkdirSync(join(folder, "data"), { mode: 0o700 });
    copyFileSync(join(this.folder, "data/data.key"), join(folder, "data/data.key"));
    const gateway = new ProcessGateway(folder, this.simulator, this.signer);
    gateway.ownsSimulator = false;
    gateway.program = program;
    await gateway.run(env);
    return gateway;
  }

  /** Starts the process; resolves when it is ready. Rejects if it ends before. */
  async run(env: Record<string, string> = {}): Promise<void> {
    rmSync(this.operatorFile, { force: true });
    // With a log level set by the test, the log is for the test to read; anything else on stderr is shown to whoever
    // runs the test.
    const written = env["TOLLGATE_LOG_LEVEL"] === undefined ? null : openSync(this.logFile, "a");
    // Bun loads nothing beside the executable.
    const program = this.program ?? (env["BUN_OPTIONS"] === undefined ? PROGRAM : SOURCES);
    const child = Bun.spawn([program, "serve", "--config", join(this.folder, "tollgate.yaml")], {
      env: { ...process.env, TOLLGATE_LOG_LEVEL: "silent", ...env },
      cwd: this.folder,
      stdin: "ignore",
      stdout: "ignore",
      stderr: written ?? "inherit",
    });
    if (written !== null) closeSync(written);
    this.child = child;
    while (child.exitCode === null && child.signalCode === null) {
      const operator = readOperator(this.operatorFile);
      if (operator !== null) {
        Object.assign(this, operator);
        return;
      }
      await Bun.sleep(10);
    }
    throw new Error(`the gateway ended at its start: ${child.signalCode ?? child.exitCode}`);
  }

  /** Its stderr of all runs that were given a log level; lines appear within a second. */
  get log(): string {
    return existsSync(this.logFile) ? readFileSync(this.logFile, "utf8") : "";
  }

  /** Resolves with the signal that ended the process, null if it exited by itself. */
  async ended(): Promise<string | null> {
    await this.child?.exited;
    return this.child?.signalCode?.toString() ?? null;
  }

  async kill(signal: "SIGKILL" | "SIGTERM" | "SIGSTOP" | "SIGCONT" = "SIGKILL"): Promise<void> {
    this.child?.kill(signal);
    if (signal === "SIGKILL" || signal === "SIGTERM") await this.ended();
  }

  /** The base URL. */
  get address(): string {
    return this.url;
  }

  get pid(): number {
    if (this.child === null) throw new Error("the gateway does not run");
    return this.child.pid;
  }

  /** The exit code, once it has ended. */
  get exitCode(): number | null {
    return this.child?.exitCode ?? null;
  }

  async admin<T = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(`${this.url}/admin/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${this.token}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }

  /** Signs the manifest for a month, and publishes it through this gateway. */
  async publish(manifest: TestManifest): Promise<void> {
    const jws = await signRelease(parseManifest(structuredClone(manifest)), this.signer, {
      expiresInMs: 30 * DAY_MS,
      nowMs: Date.now(),
    });
    await patiently(() => this.admin("POST", "/releases", { jws }));
  }

  /** Of the running process; 0 if the system does not report it. */
  get residentBytes(): number {
    const path = `/proc/${this.child?.pid}/status`;
    return existsSync(path) ? Number(/VmRSS:\s+(\d+)/.exec(readFileSync(path, "utf8"))?.[1] ?? 0) * 1024 : 0;
  }

  /** A new organization with five dollars, or so many, and its key. */
  async customer(usd = "5"): Promise<{ organizationId: string; secret: string }> {
    const post = <T>(path: string, body: object): Promise<T> =>
      patiently(() => this.admin<T>("POST", path, body));
    const { id } = await post<{ id: string }>("/organizations", { name: "Test" });
    await post("/credits", { org: id, usd, kind: "purchase", reference: `first of ${id}` });
    const { secret } = await post<{ secret: string }>("/keys", { org: id, name: "test" });
    return { organizationId: id, secret };
  }

  /** POST /v1/chat/completions; returns what arrived until the connection ended. */
  chat(secret: string, body: object, headers: Record<string, string> = {}): Promise<Received> {
    return this.listen(secret, body, headers).ended;
  }

  /** The same, for tests that act when a certain amount has arrived. */
  listen(secret: string, body: object, headers: Record<string, string> = {}): Arriving {
    return post(`${this.url}/v1/chat/completions`, {
      headers: { authorization: `Bearer ${secret}`, ...headers },
      body: JSON.stringify(body),
    });
  }

  /** Runs the command line on this gateway's configuration and store. */
  async cli(
    env: Record<string, string>,
    ...words: string[]
  ): Promise<{ code: number; stdout: string; stderr: string }> {
    const child = Bun.spawn([PROGRAM, ...words], {
      env: {
        ...process.env,
        TOLLGATE_CONFIG: join(this.folder, "tollgate.yaml"),
        TOLLGATE_URL: this.url,
        TOLLGATE_TOKEN: this.token,
        ...env,
      },
      cwd: this.folder,
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const [stdout, stderr] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    return { code: await child.exited, stdout, stderr };
  }

  async get(path: string, headers: Record<string, string> = {}): Promise<Received> {
    return received(fetch(`${this.url}${path}`, { headers }));
  }

  async stop(): Promise<void> {
    if (this.child?.exitCode === null && this.child.signalCode === null) {
      this.child.kill("SIGCONT");
      await this.kill("SIGKILL");
    }
    if (this.ownsSimulator) await this.simulator.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private get logFile(): string {
    return join(this.folder, "log");
  }

  private get operatorFile(): string {
    return join(this.folder, "data/operator.json");
  }
}

function readOperator(path: string): { url: string; token: string } | null {
  if (!existsSync(path)) return null;
  try {
    return JSON.parse(readFileSync(path, "utf8")) as { url: string; token: string };
  } catch {
    return null; // not completely written yet
  }
}

const PATIENT_TRIES = 10;

/** If the store is slow to confirm its writes, the gateway answers 503; this retries calls that only prepare a test. */
async function patiently<T>(calling: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1)
    try {
      return await calling();
    } catch (error) {
      if (tries === PATIENT_TRIES || !String(error).includes('"overloaded"')) throw error;
      await Bun.sleep(1000);
    }
}
