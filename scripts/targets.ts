// The machines that a single executable is built for, and Bun's program for each: from the npm registry, pinned by
// the lock file, kept in node_modules/.cache. It is never run; `bun build` appends our code to it.
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { join } from "node:path";

export interface Target {
  /** The name that `bun build --target` uses. */
  bun: string;
  /** The package of Bun's program. */
  package: string;
}

/** Windows is missing: the program looks for its own files (threads, dashboard) at another kind of path there. */
export const TARGETS: Readonly<Record<string, Target>> = {
  "linux-x64": { bun: "bun-linux-x64", package: "@oven/bun-linux-x64" },
  "linux-arm64": { bun: "bun-linux-arm64", package: "@oven/bun-linux-aarch64" },
  "darwin-arm64": { bun: "bun-darwin-arm64", package: "@oven/bun-darwin-aarch64" },
  "darwin-x64": { bun: "bun-darwin-x64", package: "@oven/bun-darwin-x64" },
};

/** The target of that name. Throws for any other. */
export function targetOf(name: string): Target {
  const target = TARGETS[name];
  if (target === undefined)
    throw new Error(`no executable is built for ${name}; there are ${Object.keys(TARGETS).join(", ")}`);
  return target;
}

/** The path of Bun's program for that target; npm downloads it if it is missing. */
export async function bunProgram(root: string, target: Target): Promise<string> {
  const { packages } = (await Bun.file(join(root, "package-lock.json")).json()) as {
    packages: Record<string, { version: string; integrity: string }>;
  };
  const locked = packages[`node_modules/${target.package}`];
  if (locked === undefined) throw new Error(`package-lock.json does not name ${target.package}`);
  const cache = join(root, "node_modules/.cache/bun-programs");
  const folder = join(cache, `${target.package.replace("/", "-")}-${locked.version}`);
  const program = join(folder, "package/bin/bun");
  if (existsSync(program)) return program;
  await mkdir(cache, { recursive: true });
  const part = await mkdtemp(join(cache, "part-"));
  try {
    await command(part, "npm", "pack", "--silent", `${target.package}@${locked.version}`);
    const [archive = ""] = [...new Bun.Glob("*.tgz").scanSync(part)];
    await assertIntegrity(join(part, archive), locked.integrity);
    await command(part, "tar", "-xzf", archive, "package/bin/bun");
    await rm(join(part, archive));
    await rename(part, folder).catch((error: unknown) => {
      if (!existsSync(program)) throw error; // Another build was faster.
    });
  } finally {
    await rm(part, { recursive: true, force: true });
  }
  return program;
}

/** Throws if the file does not have the lock file's checksum. */
export async function assertIntegrity(path: string, integrity: string): Promise<void> {
  const [algorithm = "", wanted] = integrity.split("-", 2);
  const found = createHash(algorithm)
    .update(await Bun.file(path).bytes())
    .digest("base64");
  if (found !== wanted)
    throw new Error(`${path} is not the file that package-lock.json pins: its ${algorithm} is ${found}`);
}

async function command(cwd: string, ...words: string[]): Promise<void> {
  const child = Bun.spawn(words, { cwd, stdin: "ignore", stdout: "ignore", stderr: "pipe" });
  const [said, code] = await Promise.all([child.stderr.text(), child.exited]);
  if (code !== 0) throw new Error(`${words.join(" ")} failed in ${cwd}\n${said}`);
}
