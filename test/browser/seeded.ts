// A gateway on generated data, as `./tollgate seed` makes it: full pages for screenshots and measurements.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PASSWORD } from "../support/browser.ts";
import { runToEnd, SOURCES } from "../support/program.ts";
import { waitFor } from "../support/wait.ts";
import { fillWithCrowd } from "./crowd.ts";
import { BUILT } from "./dashboard.ts";

export interface SeededGateway {
  url: string;
  /** The first organization, and who may see all of it. */
  org: string;
  owner: string;
  operator: string;
  stop(): Promise<void>;
}

interface Made {
  organizations: { id: string; owner: string }[];
  operator: string;
  config: string;
}

/**
 * Fills and starts it; every account has the tests' password. `keys`: the number of additional keys, and people, in
 * the first organization.
 */
export async function startSeeded(requests = 12_000, keys = 0): Promise<SeededGateway> {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-seeded-"));
  const data = join(folder, "data");
  const seed = ["seed", "--data-dir", data, "--requests", String(requests), "--json"];
  const { code, out, err } = await runToEnd(SOURCES, seed, {
    cwd: folder,
    env: { ...process.env, TOLLGATE_SEED_PASSWORD: PASSWORD },
  });
  if (code !== 0) throw new Error(`it was not seeded: ${err}`);
  const { organizations, operator, config } = JSON.parse(out) as Made;
  const [first] = organizations;
  if (first === undefined) throw new Error("nothing was seeded");
  if (keys > 0) fillWithCrowd({ dataDir: data, org: first.id, keys });
  const port = freePort();
  mkdirSync(BUILT, { recursive: true });
  symlinkSync(BUILT, join(data, "dashboard"));
  const child = Bun.spawn([SOURCES, "serve", "--config", config, "--port", String(port)], {
    cwd: folder,
    env: { ...process.env, TOLLGATE_LOG_LEVEL: "silent" },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "inherit",
  });
  const url = `http://127.0.0.1:${port}`;
  await waitFor(async () => (await fetch(`${url}/readyz`).catch(() => null))?.ok === true, "the gateway");
  return {
    url,
    org: first.id,
    owner: first.owner,
    operator,
    stop: async () => {
      child.kill("SIGTERM");
      await child.exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function freePort(): number {
  const server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => {} } });
  const { port } = server;
  server.stop(true);
  return port;
}
