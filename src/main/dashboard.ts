// The built dashboard, built on first use and kept in the data directory under the fingerprint of its
// sources: a start never waits for it, and an unchanged dashboard is never built twice
// (docs/decisions/0010-dashboard-is-built-at-first-use.md). The single executable includes it.
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { Glob } from "bun";
import { inExecutable, ownFile } from "../lib/program.ts";
import type { Asset, Assets } from "../http/dashboard.ts";

const ROOT = ownFile("");
/** Everything that the page loads, and what builds it. */
export const SOURCES = [
  "dashboard/**",
  "src/domain/**",
  "src/gateway/formats/**",
  "src/pricing/**",
  "scripts/dashboard.ts",
  "package-lock.json",
];

/** The assets, built on the first call; after a failure the next call builds again. */
export function dashboardAssets(dataDir: string): () => Promise<Assets> {
  let loading: Promise<Assets> | null = null;
  return () => {
    loading ??= load(dataDir).catch((error: unknown) => {
      loading = null;
      throw error;
    });
    return loading;
  };
}

async function load(dataDir: string): Promise<Assets> {
  if (inExecutable) return read(ownFile("dashboard"));
  const routeTable = join(dataDir, "dashboard");
  const name = await fingerprint();
  const folder = join(routeTable, name);
  if (!existsSync(join(folder, "index.html"))) {
    await mkdir(routeTable, { recursive: true, mode: 0o700 });
    await build(folder);
    await Promise.all(
      (await readdir(routeTable))
        .filter((entry) => !entry.startsWith(name))
        .map((entry) => rm(join(routeTable, entry), { recursive: true, force: true })),
    );
  }
  return read(folder);
}

async function fingerprint(): Promise<string> {
  const paths = SOURCES.flatMap((pattern) => [...new Glob(pattern).scanSync(ROOT)]).sort();
  const digest = createHash("sha256").update(Bun.version);
  for (const path of paths) digest.update(`\0${path}\0`).update(await Bun.file(join(ROOT, path)).bytes());
  return digest.digest("hex").slice(0, 16);
}

/** In a separate process: the bundler's memory is freed with it, and it cannot delay a request. */
async function build(folder: string): Promise<void> {
  const child = Bun.spawn([process.execPath, join(ROOT, "scripts/dashboard.ts"), folder], {
    cwd: ROOT,
    env: { ...process.env, BUN_BE_BUN: "1" },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  const [complaint, code] = await Promise.all([child.stderr.text(), child.exited]);
  if (code !== 0) throw new Error(`the dashboard cannot be built: ${complaint.slice(0, 2000)}`);
}

async function read(folder: string): Promise<Assets> {
  const paths = (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".gz"))
    .map((entry) => join(entry.parentPath, entry.name));
  const assets = await Promise.all(
    paths.map(async (path): Promise<[string, Asset]> => {
      const file = Bun.file(path);
      const gzip = Bun.file(`${path}.gz`);
      const bytes = await file.bytes();
      return [
        path.slice(folder.length + 1),
        {
          type: file.type,
          bytes,
          gzipped: (await gzip.exists()) ? await gzip.bytes() : null,
          etag: `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`,
        },
      ];
    }),
  );
  return new Map(assets);
}
