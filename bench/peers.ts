// The table of peers in the order in which every round visits them. To compare with another gateway, add a row.
import { join } from "node:path";
import { writeFileSync } from "node:fs";
import { freePort, launch, readyMs, readyPort } from "./processes.ts";
import { litellm } from "./litellm/peer.ts";
import { portkey } from "./portkey/peer.ts";
import { BARE_PROXY, DIRECT, LEAN_GATEWAY, LEAN_GATEWAY_POSTGRES, LEAN_SHELL, accountOf } from "./peer.ts";
import type { Peer, RunningPeer, Upstream } from "./peer.ts";
import type { Process } from "./processes.ts";

export const root = join(import.meta.dir, "..");
const bun = join(root, "tollgate-bun");

export async function startUpstream(): Promise<Upstream> {
  const { process, stdout } = launch({ command: [bun, join(root, "bench/upstream.ts")], core: "others" });
  return { process, port: await readyPort(stdout) };
}

const plainPeer = (name: string, process: Process | null, port: number): RunningPeer => ({
  name,
  process,
  target: {
    origin: { hostname: "127.0.0.1", port },
    path: "/v1/chat/completions",
    headers: { Authorization: `Bearer ${accountOf(name)}` },
  },
});

const direct: Peer = {
  name: DIRECT,
  control: true,
  missing: () => null,
  start: async (upstream) => plainPeer(DIRECT, null, upstream.port),
};

/** A proxy of the bench's own, which prints its port; never left out. */
export const ownProxy = (name: string, file: string, environment: Record<string, string> = {}): Peer => ({
  name,
  control: false,
  missing: () => null,
  start: async (upstream, scratchDir) => {
    const { process, stdout } = launch({
      command: [bun, join(root, "bench", file)],
      core: "gateway",
      environment: {
        UPSTREAM: `http://127.0.0.1:${upstream.port}`,
        DIRECTORY: join(scratchDir, name),
        LOG: join(scratchDir, `${name}.log`),
        ...environment,
      },
    });
    return plainPeer(name, process, await readyPort(stdout));
  },
});

const bareProxy: Peer = { ...ownProxy(BARE_PROXY, "bare-proxy.ts"), control: true };
export const leanShell: Peer = ownProxy(LEAN_SHELL, "lean-shell.ts");
const leanGateway: Peer = { ...ownProxy(LEAN_GATEWAY, "lean-gateway.ts"), apart: true };
export const leanGatewayPostgres = (url: string): Peer =>
  ownProxy(LEAN_GATEWAY_POSTGRES, "lean-gateway.ts", { DATABASE_URL: url });

/** One process, no workers, so that its CPU time is the whole cost. */
const nginxSettings = (port: number, upstreamPort: number, dir: string): string => `
daemon off; master_process off; pid ${dir}/nginx.pid; error_log ${dir}/nginx.log;
events { worker_connections 8192; }
http {
  access_log off; client_body_temp_path ${dir}; proxy_temp_path ${dir}; client_max_body_size 16m;
  upstream bench { server 127.0.0.1:${upstreamPort}; keepalive 256; }
  server {
    listen 127.0.0.1:${port};
    location / { proxy_pass http://bench; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; }
    location = /nginx-ready { return 200; }
  }
}`;

const nginx: Peer = {
  name: "nginx",
  control: false,
  version: () => Bun.spawnSync(["nginx", "-v"]).stderr.toString().trim().split("/").at(-1) ?? "",
  missing: () => (Bun.which("nginx") === null ? "nginx is not installed" : null),
  start: async (upstream, scratchDir) => {
    const port = freePort();
    const settings = join(scratchDir, "nginx.conf");
    writeFileSync(settings, nginxSettings(port, upstream.port, scratchDir));
    const sinceMs = performance.now();
    const { process } = launch({ command: ["nginx", "-c", settings], core: "gateway" });
    await readyMs(`http://127.0.0.1:${port}/nginx-ready`, sinceMs);
    return plainPeer("nginx", process, port);
  },
};

export const PEERS: Peer[] = [direct, nginx, bareProxy, leanShell, leanGateway, portkey, litellm];
