// A real PgBouncer in front of a database, if one is installed (Debian's package; `PGBOUNCER` names its program
// elsewhere). It holds a pipe from this process: however the process ends, it ends.
import { spawn, type ChildProcess } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { freePort, UNPRIVILEGED } from "./postgres.ts";
import { waitFor } from "./wait.ts";

/** Debian installs it in root's PATH only. */
const SBIN = "/usr/sbin/pgbouncer";
export const PGBOUNCER =
  process.env["PGBOUNCER"] ?? Bun.which("pgbouncer") ?? (existsSync(SBIN) ? SBIN : null);

/** Ends the program when the pipe on its input closes, and then itself. */
const HANGING_ON_A_PIPE = `
  exec 3<&0
  "$@" < /dev/null 3<&- & program=$!
  { read -r _ <&3; kill -KILL $program 2> /dev/null; } &
  exec 3<&- < /dev/null
  wait $program`;

export class PgBouncer {
  private child: ChildProcess | null = null;

  private constructor(
    private readonly folder: string,
    private readonly port: number,
  ) {}

  /** Configured as by a distribution, except for the mode: no startup parameter is ignored. */
  static async start(databaseUrl: string, mode: "session" | "transaction"): Promise<PgBouncer> {
    const folder = mkdtempSync(join(tmpdir(), "tollgate-pgbouncer-"));
    const { hostname, port: serverPort, pathname, username } = new URL(databaseUrl);
    const port = await freePort();
    const name = pathname.slice(1);
    const configuration = `[databases]
${name} = host=${hostname} port=${serverPort || "5432"} dbname=${name} user=${username}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
max_client_conn = 500
default_pool_size = 200
server_login_retry = 1
`;
    writeFileSync(join(folder, "pgbouncer.ini"), configuration);
    if (UNPRIVILEGED.uid !== undefined) chownSync(folder, UNPRIVILEGED.uid, UNPRIVILEGED.gid);
    const pooler = new PgBouncer(folder, port);
    await pooler.begin(pooler.through(databaseUrl));
    return pooler;
  }

  /** The database's URL through this pooler. */
  through(databaseUrl: string): string {
    const url = new URL(databaseUrl);
    url.host = `127.0.0.1:${this.port}`;
    return url.href;
  }

  /** Kills it without warning, including its connections. */
  async kill(): Promise<void> {
    const { child } = this;
    if (child === null) return;
    this.child = null;
    const gone = new Promise((ended) => child.once("exit", ended));
    child.stdin?.end();
    await gone;
  }

  /** Starts again what `kill` ended; `url` is the URL through it. */
  async begin(url: string): Promise<void> {
    if (PGBOUNCER === null)
      throw new Error("there is no pgbouncer here; PGBOUNCER=/path/to/pgbouncer names one");
    const command = [PGBOUNCER, "-q", join(this.folder, "pgbouncer.ini")];
    const child = spawn("sh", ["-c", HANGING_ON_A_PIPE, "tollgate-pgbouncer", ...command], {
      ...UNPRIVILEGED,
      cwd: this.folder,
      stdio: ["pipe", "ignore", "pipe"],
    });
    this.child = child;
    let said = "";
    child.stderr.on("data", (bytes: Buffer) => (said += bytes.toString()));
    await waitFor(async () => {
      if (child.exitCode !== null) throw new Error(`PgBouncer ended: ${said}`);
      return await answers(url);
    }, "PgBouncer");
  }

  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {}); // reported below
  try {
    await client.connect();
    await client.query("SELECT 1");
    return true;
  } catch {
    return false; // not yet
  } finally {
    await client.end().catch(() => {}); // it never connected
  }
}
