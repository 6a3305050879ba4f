// Portkey's open gateway, which meters nothing, as a peer: from npm, pinned with the versions of its server that work
// with its streams (performance.md §4.2), in a folder of its own so that it is installed only for the bench.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { freePort, launch, readyMs } from "../processes.ts";
import { accountOf, type Peer } from "../peer.ts";
import manifest from "./package.json" with { type: "json" };

const folder = import.meta.dir;
const program = join(folder, "node_modules/@portkey-ai/gateway/build/start-server.js");
export const PORTKEY = "portkey";

export const portkey: Peer = {
  name: PORTKEY,
  control: false,
  version: () => manifest.dependencies["@portkey-ai/gateway"],
  missing: () =>
    Bun.which("node") === null || Bun.which("npm") === null ? "it needs node and npm on the path" : null,
  start: async (upstream, scratchDir) => {
    await install();
    const port = freePort();
    const sinceMs = performance.now();
    const { process } = launch({
      command: ["node", "--require", join(folder, "loopback.cjs"), program, "--headless", `--port=${port}`],
      core: "gateway",
      log: join(scratchDir, "portkey.log"),
    });
    await readyMs(`http://127.0.0.1:${port}/`, sinceMs);
    return {
      name: PORTKEY,
      process,
      target: {
        origin: { hostname: "127.0.0.1", port },
        path: "/v1/chat/completions",
        headers: {
          Authorization: `Bearer ${accountOf(PORTKEY)}`,
          "x-portkey-provider": "openai",
          "x-portkey-custom-host": `http://127.0.0.1:${upstream.port}/v1`,
        },
      },
    };
  },
};

/** Installs it once; its install scripts are only for its developers. */
async function install(): Promise<void> {
  if (existsSync(program)) return;
  console.log("installing Portkey for comparison (once, about 25 MB)");
  const child = Bun.spawn(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], {
    cwd: folder,
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  const complaint = await new Response(child.stderr).text();
  if ((await child.exited) !== 0)
    throw new Error(`npm could not install it: ${complaint.trim().slice(-300)}`);
}
