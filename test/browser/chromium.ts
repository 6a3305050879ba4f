// A real Chromium for browser tests: the one that `CHROMIUM_PATH` names, else the system's, else the one from npm,
// unpacked once per checkout and version. `CHROMIUM_PATH=package` uses the one from npm even if the system has its
// own. The choice is printed once per process, because pages differ between versions.
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Browser, chromium } from "playwright-core";

const SYSTEM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const PACKAGE = join(import.meta.dir, "../../node_modules/@sparticuz/chromium");

const UNPACKED = join(import.meta.dir, "../../node_modules/.cache/tollgate-chromium");

const { version } = JSON.parse(readFileSync(join(PACKAGE, "package.json"), "utf8")) as { version: string };

/** To this browser an ordinary host, whose plain http gets no special trust; it resolves to this machine. */
export const PLAIN_HOST = "gateway.test";

let shared: Promise<Browser> | undefined;

/** The browser of this process; visitors are separated by contexts. It holds a pipe to the process and ends with it. */
export async function sharedBrowser(): Promise<Browser> {
  const browser = await (shared ??= launchBrowser());
  if (browser.isConnected()) return browser;
  shared = launchBrowser(); // the previous one has crashed
  return shared;
}

/** Not with the package's own arguments, which switch web security off. */
async function launchBrowser(): Promise<Browser> {
  const { executablePath, env, from } = await findBrowser();
  const browser = await chromium.launch({
    executablePath,
    args: [
      "--no-sandbox",
      "--no-zygote",
      "--disable-gpu",
      "--font-render-hinting=none",
      `--host-resolver-rules=MAP ${PLAIN_HOST} 127.0.0.1`,
    ],
    env: { ...process.env, ...env } as Record<string, string>,
  });
  process.stderr.write(`The browser of these tests: Chromium ${browser.version()}, ${from}.\n`);
  return browser;
}

interface Found {
  executablePath: string;
  env: Record<string, string>;
  /** Its origin, for people. */
  from: string;
}

/** Throws if `CHROMIUM_PATH` names a missing file: a test in another browser than requested proves nothing. */
async function findBrowser(): Promise<Found> {
  const asked = process.env["CHROMIUM_PATH"];
  if (asked !== undefined && asked !== "" && asked !== "package") {
    if (!existsSync(asked)) throw new Error(`CHROMIUM_PATH: there is no ${asked}`);
    return { executablePath: asked, env: {}, from: `CHROMIUM_PATH=${asked}` };
  }
  const installed = asked === "package" ? undefined : SYSTEM.find((path) => existsSync(path));
  if (installed !== undefined) return { executablePath: installed, env: {}, from: installed };
  const folder = await unpacked();
  const bare = !["/usr/lib", "/lib", "/usr/lib64"].some((root) =>
    ["x86_64-linux-gnu/libnss3.so", "libnss3.so"].some((file) => existsSync(join(root, file))),
  );
  return {
    executablePath: join(folder, "chromium"),
    env: bare ? { LD_LIBRARY_PATH: join(folder, "al2023/lib") } : {},
    from: `@sparticuz/chromium ${version}`,
  };
}

/** The folder of the unpacked package: made under another name first, so that it is either complete or missing. */
async function unpacked(): Promise<string> {
  const folder = join(UNPACKED, version);
  if (existsSync(join(folder, "chromium"))) return folder;
  await mkdir(UNPACKED, { recursive: true });
  const draft = await mkdtemp(`${folder}-`);
  const files = ["chromium.br", "al2023.tar.br"].map((name) => join(PACKAGE, "bin", name));
  // The package unpacks into the temporary directory of its process.
  const script = `import { inflate } from ${JSON.stringify(join(PACKAGE, "build/lambdafs.js"))};
    for (const file of ${JSON.stringify(files)}) await inflate(file);`;
  const child = Bun.spawn([process.execPath, "-e", script], {
    env: { ...process.env, TMPDIR: draft },
    stderr: "inherit",
  });
  if ((await child.exited) !== 0) throw new Error("Chromium cannot be unpacked; set CHROMIUM_PATH");
  await rename(draft, folder).catch(() => rm(draft, { recursive: true, force: true }));
  return folder;
}
