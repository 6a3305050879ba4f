// Bundles the dashboard into the folder named by the first argument, with a gzipped copy beside each file. The
// gateway runs this in a separate process (docs/decisions/0010-dashboard-is-built-at-first-use.md), so that it does
// not spend the gateway's memory and processor time. A rename makes the result visible all at once.
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";

const [, , target] = process.argv;
if (target === undefined) throw new Error("usage: scripts/dashboard.ts FOLDER");
const root = join(import.meta.dir, "..");
const draft = `${target}.${process.pid}`;

await rm(draft, { recursive: true, force: true });
await mkdir(draft, { recursive: true });
const common = {
  outdir: draft,
  target: "browser",
  minify: true,
  define: { "process.env.NODE_ENV": '"production"' },
} as const;
const page = await Bun.build({
  ...common,
  entrypoints: [join(root, "dashboard/index.html")],
  splitting: true,
  publicPath: "/",
  naming: { entry: "[name].[ext]", chunk: "assets/[name]-[hash].[ext]", asset: "assets/[name]-[hash].[ext]" },
});
/** Built under a name that is the same in every version, as a script that runs at once. */
const beside = await Bun.build({
  ...common,
  entrypoints: [join(root, "dashboard/other-version.ts")],
  format: "iife",
  naming: "assets/[name].[ext]",
});
const failed = [page, beside].flatMap(({ success, logs }) => (success ? [] : logs));
if (failed.length > 0) throw new AggregateError(failed, "the dashboard cannot be built");
// Goes before everything that may fail to load. The bundler supports no script of a page beside its module.
const index = join(draft, "index.html");
const [head, ...rest] = (await Bun.file(index).text()).split(/(?=<link rel="stylesheet")/);
await Bun.write(index, [head, '<script src="/assets/other-version.js"></script>', ...rest].join(""));
for (const path of await readdir(draft, { recursive: true })) {
  const file = Bun.file(join(draft, path));
  if (/\.(?:html|js|css|svg)$/.test(path))
    await Bun.write(
      join(draft, `${path}.gz`),
      Bun.gzipSync(await file.bytes(), { library: "libdeflate", level: 12 }),
    );
}
await rename(draft, target).catch(async (error: unknown) => {
  // Another start was faster; its result is the same.
  await rm(draft, { recursive: true, force: true });
  if (!(await Bun.file(join(target, "index.html")).exists())) throw error;
});
