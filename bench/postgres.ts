// The bench's PostgreSQL: the binaries of the tests, but durable, and on the core of the others, so that a gateway's
// CPU time is its own. Its own CPU time is summed over all of its processes.
import { readFileSync } from "node:fs";
import { PostgresServer } from "../test/support/postgres.ts";

export interface BenchDatabase {
  /** The URL of a database of its own. */
  url: string;
  /** Creates another empty database. */
  empty(): Promise<string>;
  /**
   * User and system time of all server processes so far, seconds. Backends that have ended are not counted: keep them
   * open.
   */
  cpuSeconds(): number;
  stop(): Promise<void>;
}

const DURABLE = { fsync: "on", full_page_writes: "on", synchronous_commit: "on", shared_buffers: "256MB" };

export async function startDatabase(): Promise<BenchDatabase> {
  const server = await PostgresServer.start(DURABLE);
  const { url } = await server.database();
  return {
    url,
    empty: async () => (await server.database()).url,
    cpuSeconds: () => server.processes().reduce((sum, pid) => sum + cpuSeconds(pid), 0),
    stop: () => server.stop(),
  };
}

/** From the scheduler's nanoseconds: a server process has one thread. */
function cpuSeconds(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, "latin1").split(" ")[0]) / 1e9;
  } catch {
    return 0; // it ended between the listing and the reading
  }
}
