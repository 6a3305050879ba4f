// Two PostgreSQL servers managed by a real Patroni, if Debian's packages are installed (`PATRONI` names the program
// elsewhere): one is the leader, the other a synchronous follower that takes over when the leader's machine is lost.
// They use Patroni's own Raft for consensus, with a third member that has no data. All processes hold a pipe from
// this process: however the process ends, they and their servers end.
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { stringify } from "yaml";
import { freePort, UNPRIVILEGED } from "./postgres.ts";
import { waitFor } from "./wait.ts";

/** Patroni clones with `pg_basebackup`, which npm's binaries do not include. */
const [backup] = [...new Bun.Glob("/usr/lib/postgresql/*/bin/pg_basebackup").scanSync("/")]
  .toSorted()
  .toReversed();
const program = process.env["PATRONI"] ?? Bun.which("patroni");
const voice = program === null ? null : join(dirname(program), "patroni_raft_controller");

/**
 * What its Raft lacks; null if it runs. Debian's patroni includes the program of a Raft member, but not its library.
 */
export function missingOf(raft: string | null): string | null {
  if (raft === null || !existsSync(raft))
    return "there is no patroni with Raft; PATRONI=/path/to/patroni names one";
  const { status } = spawnSync(raft, ["--help"], { stdio: "ignore" });
  return status === 0 ? null : `${raft} does not start; Debian's python3-pysyncobj may be missing`;
}

/** Null if it can run; otherwise what is missing. */
export const NO_PATRONI =
  missingOf(voice) ?? (backup === undefined ? "there is no pg_basebackup in /usr/lib/postgresql" : null);

/** A lost leader keeps its lease for that long; the minimum that Patroni allows. */
const TERMS = { ttl: 20, loop_wait: 1, retry_timeout: 3 };

/** Ends the program, and a server that it started, when the pipe on its input closes. */
const HANGING_ON_A_PIPE = `
  exec 3<&0
  "$0" patroni.yaml < /dev/null > log 2>&1 3<&- & program=$!
  { read -r _ <&3
    kill -KILL $program 2> /dev/null
    [ -f data/postmaster.pid ] && kill -QUIT $(head -n 1 data/postmaster.pid) 2> /dev/null; } &
  exec 3<&- < /dev/null
  wait $program`;

interface Node {
  name: string;
  folder: string;
  database: number;
  rest: number;
  raft: number;
  child: ChildProcess | null;
}

export class Patroni {
  private voice: ChildProcess | null = null;

  private constructor(
    private readonly folder: string,
    private readonly nodes: readonly Node[],
    private readonly voiceRaft: number,
  ) {}

  static async start(): Promise<Patroni> {
    const folder = mkdtempSync(join(tmpdir(), "tollgate-patroni-"));
    const nodes = await Promise.all(
      ["one", "two"].map(async (name) => ({
        name,
        folder: join(folder, name),
        database: await freePort(),
        rest: await freePort(),
        raft: await freePort(),
        child: null,
      })),
    );
    const patroni = new Patroni(folder, nodes, await freePort());
    for (const { folder: of } of nodes) mkdirSync(of);
    patroni.begin();
    await waitFor(async () => (await patroni.leader()) !== null, "a leader").catch((error: unknown) => {
      throw new Error(`${String(error)}\n${patroni.said()}`);
    });
    return patroni;
  }

  /** The URL of the database `postgres` on the leader; null while there is none. */
  async leader(): Promise<string | null> {
    for (const node of this.nodes)
      if (await answers(node, "/primary")) return `postgres://postgres@127.0.0.1:${node.database}/postgres`;
    return null;
  }

  /** True if the follower has everything that the leader acknowledges. */
  async followed(): Promise<boolean> {
    for (const node of this.nodes) if (await answers(node, "/synchronous")) return true;
    return false;
  }

  /** Loses the leader's machine: kills Patroni and every process of its server at once. */
  async loseLeader(): Promise<void> {
    for (const node of this.nodes) {
      if (!(await answers(node, "/primary"))) continue;
      const [postmaster] = readFileSync(join(node.folder, "data/postmaster.pid"), "utf8").split("\n");
      const children = spawnSync("pgrep", ["-P", String(postmaster)], { encoding: "utf8" }).stdout.split(
        "\n",
      );
      for (const pid of [postmaster, ...children]) kill(Number(pid));
      await end(node.child);
      node.child = null;
      return;
    }
    throw new Error("nobody leads");
  }

  async stop(): Promise<void> {
    for (const { child } of [...this.nodes, { child: this.voice }]) await end(child);
    for (const { folder } of this.nodes) {
      const file = join(folder, "data/postmaster.pid");
      if (!existsSync(file)) continue;
      const pid = Number(readFileSync(file, "utf8").split("\n")[0]);
      await waitFor(async () => !isRunning(pid), "the end of its server");
    }
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** The ends of their logs. */
  said(): string {
    return this.nodes.map(({ folder }) => readFileSync(join(folder, "log"), "utf8").slice(-1_500)).join("\n");
  }

  private begin(): void {
    const partners = (own: number): string[] =>
      [...this.nodes.map(({ raft }) => raft), this.voiceRaft]
        .filter((raft) => raft !== own)
        .map((raft) => `127.0.0.1:${raft}`);
    const common = (name: string, own: number): object => ({
      scope: "tollgate",
      name,
      raft: {
        data_dir: join(this.folder, `raft-${name}`),
        self_addr: `127.0.0.1:${own}`,
        partner_addrs: partners(own),
      },
    });
    for (const node of this.nodes) {
      const settings = { ...common(node.name, node.raft), ...serverOf(node) };
      node.child = this.run(program ?? "", node.name, settings);
    }
    this.voice = this.run(voice ?? "", "voice", common("voice", this.voiceRaft));
  }

  private run(command: string, name: string, settings: object): ChildProcess {
    const folder = join(this.folder, name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "patroni.yaml"), stringify(settings));
    if (UNPRIVILEGED.uid !== undefined)
      for (const path of [this.folder, folder]) chownSync(path, UNPRIVILEGED.uid, UNPRIVILEGED.gid);
    return spawn("sh", ["-c", HANGING_ON_A_PIPE, command], {
      ...UNPRIVILEGED,
      cwd: folder,
      stdio: ["pipe", "ignore", "ignore"],
      env: { ...process.env, HOME: folder, LC_ALL: "C" },
    });
  }
}

function serverOf({ folder, database, rest }: Node): object {
  const user = (username: string): object => ({ username, password: "none" });
  return {
    restapi: { listen: `127.0.0.1:${rest}`, connect_address: `127.0.0.1:${rest}` },
    bootstrap: {
      dcs: { ...TERMS, maximum_lag_on_failover: 0, synchronous_mode: true },
      initdb: [{ encoding: "UTF8" }, "no-sync"],
    },
    postgresql: {
      listen: `127.0.0.1:${database}`,
      connect_address: `127.0.0.1:${database}`,
      data_dir: join(folder, "data"),
      bin_dir: dirname(`/${backup ?? ""}`),
      authentication: { superuser: user("postgres"), replication: user("replicator") },
      parameters: { unix_socket_directories: folder, fsync: "off", max_connections: 200 },
      pg_hba: [
        "host all all 127.0.0.1/32 trust",
        "host replication all 127.0.0.1/32 trust",
        "local all all trust",
      ],
    },
  };
}

const answers = ({ rest }: Node, path: string): Promise<boolean> =>
  fetch(`http://127.0.0.1:${rest}${path}`, { signal: AbortSignal.timeout(1_000) }).then(
    ({ ok }) => ok,
    () => false,
  );

function kill(pid: number): void {
  if (pid > 0 && isRunning(pid)) process.kill(pid, "SIGKILL");
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function end(child: ChildProcess | null): Promise<void> {
  if (child === null || child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((ended) => child.once("exit", ended));
  child.stdin?.end();
  await gone;
}
