// `npm run build`: the whole product as one file, dist/tollgate, for the machine it is built on: Bun, the gateway, its
// threads, the command line and the dashboard. Beside it a checksum and the licences of what is inside.
import { createHash } from "node:crypto";
import { cp, mkdir, rename, rm } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { Glob } from "bun";
import { thirdPartyNotices } from "./notices.ts";

const root = join(import.meta.dir, "..");
const target = resolve(root, process.argv[2] ?? "dist/tollgate");
const folder = join(target, "..");
const stage = `${target}.parts`;
const REFERENCE = "node_modules/@scalar/api-reference";
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

await mkdir(folder, { recursive: true });
try {
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
      `--outfile=${join(stage, "tollgate")}`,
      "cli/executable.ts",
      ...threads,
      ...assets,
    ),
  );
  await rename(join(stage, "tollgate"), target);
  await Bun.write(join(folder, "THIRD-PARTY-NOTICES.txt"), await thirdPartyNotices(root, [REFERENCE]));
  const bytes = await Bun.file(target).bytes();
  const digest = createHash("sha256").update(bytes).digest("hex");
  await Bun.write(`${target}.sha256`, `${digest}  ${basename(target)}\n`);
  console.log(`${target}  ${Math.round(bytes.byteLength / 1_000_000)} MB  sha256 ${digest}`);
} finally {
  await rm(stage, { recursive: true, force: true });
}
