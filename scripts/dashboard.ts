// Bundles the dashboard into the folder named by the first argument, each file with a gzipped copy beside it. The
// gateway runs this as a process of its own (docs/decisions/0010-dashboard-is-built-at-first-use.md), so that the
// bundler's memory and processor time are not the gateway's. It becomes visible all at once, by a rename.
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";

const [, , target] = process.argv;
if (target === undefined) throw new Error("usage: scripts/dashboard.ts FOLDER");
const root = join(import.meta.dir, "..");
const draft = `${target}.${process.pid}`;

await rm(draft, { recursive: true, force: true });
await mkdir(draft, { recursive: true });
const built = await Bun.build({
  entrypoints: [join(root, "dashboard/index.html")],
  outdir: draft,
  target: "browser",
  minify: true,
  splitting: true,
  publicPath: "/",
  define: { "process.env.NODE_ENV": '"production"' },
  naming: { entry: "[name].[ext]", chunk: "assets/[name]-[hash].[ext]", asset: "assets/[name]-[hash].[ext]" },
});
if (!built.success) throw new AggregateError(built.logs, "the dashboard cannot be built");
for (const path of await readdir(draft, { recursive: true })) {
  const file = Bun.file(join(draft, path));
  if (/\.(?:html|js|css|svg)$/.test(path))
    await Bun.write(
      join(draft, `${path}.gz`),
      Bun.gzipSync(await file.bytes(), { library: "libdeflate", level: 12 }),
    );
}
await rename(draft, target).catch(async (error: unknown) => {
  // Another start was faster: its result is the same.
  await rm(draft, { recursive: true, force: true });
  if (!(await Bun.file(join(target, "index.html")).exists())) throw error;
});
