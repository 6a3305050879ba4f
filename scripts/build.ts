// `npm run build`: builds the whole product as one file, dist/tollgate, for this machine, or for another one with `--
// --target NAME` (scripts/targets.ts). The file contains Bun, the gateway, its threads, the command line and the
// dashboard. Beside it go a checksum, the licences of what is inside, and its bill of materials (CycloneDX).
import { createHash } from "node:crypto";
import { cp, mkdir, rename, rm } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { Glob } from "bun";
import { parseArgs } from "node:util";
import { thirdPartyNotices } from "./notices.ts";
import { billOfMaterials } from "./sbom.ts";
import { bunProgram, TARGETS, targetOf } from "./targets.ts";

const root = join(import.meta.dir, "..");
const {
  values: { target: named },
  positionals,
} = parseArgs({
  args: process.argv.slice(2),
  options: { target: { type: "string" } },
  allowPositionals: true,
});
const machine = named ?? `${process.platform}-${process.arch}`;
const program = resolve(
  root,
  positionals[0] ?? (named === undefined ? "dist/tollgate" : `dist/tollgate-${named}`),
);
const folder = join(program, "..");
const stage = `${program}.parts`;
const REFERENCE_PACKAGE = "@scalar/api-reference";
const REFERENCE = `node_modules/${REFERENCE_PACKAGE}`;
const REFERENCE_SCRIPT = join(REFERENCE, "dist/browser/standalone.js");

async function run(...args: string[]): Promise<void> {
  const child = Bun.spawn([process.execPath, ...args], { cwd: root, stdout: "ignore", stderr: "pipe" });
  const [said, code] = await Promise.all([child.stderr.text(), child.exited]);
  if (code !== 0) throw new Error(`${args.join(" ")}\n${said}`);
}

async function step(name: string, work: () => Promise<unknown>): Promise<void> {
  const startedAt = performance.now();
  await work();
  console.log(`${name.padEnd(12)} ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
}

/** Flags that append our code to another machine's Bun. */
async function crossFlags(): Promise<string[]> {
  if (named === undefined) return [];
  const other = targetOf(named);
  return [`--target=${other.bun}`, `--compile-executable-path=${await bunProgram(root, other)}`];
}

await mkdir(folder, { recursive: true });
try {
  const cross = await crossFlags();
  await step("dashboard", () => run("scripts/dashboard.ts", join(stage, "dashboard")));
  await step("reference", () => cp(join(root, REFERENCE_SCRIPT), join(stage, REFERENCE_SCRIPT)));
  const threads = [...new Glob("src/**/*-worker.ts").scanSync(root)];
  const assets = ["dashboard", "node_modules"].map((name) => `--asset=${join(stage, name)}`);
  await step("executable", () =>
    run(
      "build",
      "--compile",
      "--bytecode",
      "--format=esm",
      "--splitting",
      "--sourcemap=inline",
      "--no-compile-autoload-dotenv",
      "--no-compile-autoload-bunfig",
      ...cross,
      `--outfile=${join(stage, "tollgate")}`,
      "cli/executable.ts",
      ...threads,
      ...assets,
    ),
  );
  await rename(join(stage, "tollgate"), program);
  await Bun.write(join(folder, "THIRD-PARTY-NOTICES.txt"), await thirdPartyNotices(root, [REFERENCE]));
  const bun = TARGETS[machine]?.package ?? "";
  const bill = await billOfMaterials(root, { also: [REFERENCE_PACKAGE], bun });
  await Bun.write(`${program}.cdx.json`, `${JSON.stringify(bill, null, 2)}\n`);
  const bytes = await Bun.file(program).bytes();
  const digest = createHash("sha256").update(bytes).digest("hex");
  await Bun.write(`${program}.sha256`, `${digest}  ${basename(program)}\n`);
  console.log(`${program}  ${Math.round(bytes.byteLength / 1_000_000)} MB  sha256 ${digest}`);
} finally {
  await rm(stage, { recursive: true, force: true });
}
