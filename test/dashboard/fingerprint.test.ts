// The dashboard is rebuilt when one of its sources has changed, so the fingerprint must include all of them.
import { expect, test } from "bun:test";
import { dirname, join, relative } from "node:path";
import { Glob } from "bun";
import { SOURCES } from "../../src/main/dashboard.ts";

const ROOT = join(import.meta.dir, "../..");

/** The modules of this program that the page loads, from its first module on; types are erased by then. */
async function loaded(entry: string): Promise<string[]> {
  const seen = new Set<string>();
  const open = [join(ROOT, entry)];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (seen.has(path) || path.includes("node_modules")) continue;
    seen.add(path);
    if (!/\.tsx?$/.test(path)) continue;
    const transpiler = new Bun.Transpiler({ loader: path.endsWith("x") ? "tsx" : "ts" });
    for (const { path: name } of transpiler.scanImports(await Bun.file(path).text()))
      if (name.startsWith(".")) open.push(Bun.resolveSync(name, dirname(path)));
  }
  return [...seen].map((path) => relative(ROOT, path)).toSorted();
}

test("everything that the page loads is in the fingerprint of its build", async () => {
  const sources = SOURCES.map((pattern) => new Glob(pattern));
  const files = await loaded("dashboard/main.tsx");
  expect(files.length).toBeGreaterThan(100);
  expect(files.filter((file) => sources.every((glob) => !glob.match(file)))).toEqual([]);
});
