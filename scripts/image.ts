// `npm run image`: builds an OCI image without a daemon, in dist/image, and as dist/image.tar for `docker load` and
// `skopeo`. It contains the executable, the C library that it is linked with, a user and a data directory; no shell,
// no package manager. `--target linux-arm64` builds for that processor, `--program FILE` uses an existing executable,
// `--libc` a given C library.
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { writeImage } from "./image/layout.ts";
import { libcEntries, type Processor } from "./image/libc.ts";
import type { Entry } from "./image/tar.ts";

const root = join(import.meta.dir, "..");
const { values } = parseArgs({
  options: {
    target: { type: "string", default: `linux-${process.arch}` },
    program: { type: "string" },
    libc: { type: "string" },
    out: { type: "string", default: "dist/image" },
  },
});
const USER = 65532;
const DATA = "/data";

async function run(...words: string[]): Promise<string> {
  const child = Bun.spawn(words, { cwd: root, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (code !== 0) throw new Error(`${words.join(" ")}\n${err}`);
  return out.trim();
}

function processorOf(target: string): Processor {
  const [, processor] = /^linux-(x64|arm64)$/.exec(target) ?? [];
  if (processor !== "x64" && processor !== "arm64")
    throw new Error(`no image is made for ${target}; there are linux-x64, linux-arm64`);
  return processor;
}

/** The executable, built if none is given, with the files beside it. */
async function programEntries(target: string): Promise<Entry[]> {
  const program = resolve(root, values.program ?? `dist/tollgate-${target}`);
  if (values.program === undefined)
    await run(process.execPath, "scripts/build.ts", program, "--target", target);
  const papers: [string, string][] = [
    [join(program, "../THIRD-PARTY-NOTICES.txt"), "THIRD-PARTY-NOTICES.txt"],
    [`${program}.cdx.json`, "tollgate.cdx.json"],
  ];
  return [
    { path: "tollgate", mode: 0o755, content: readFileSync(program) },
    { path: "usr/share/doc/tollgate", mode: 0o755 },
    ...papers
      .filter(([path]) => existsSync(path))
      .map(([path, name]) => ({
        path: `usr/share/doc/tollgate/${name}`,
        mode: 0o644,
        content: readFileSync(path),
      })),
  ];
}

const text = (path: string, content: string): Entry => ({ path, mode: 0o644, content: Buffer.from(content) });
const folder = (path: string, mode = 0o755, owner = 0): Entry => ({ path, mode, owner });

/** The mount points of a runtime (`proc`, `dev`, `sys`), for runtimes that do not create them. */
const system = (): Entry[] => [
  ...["etc", "etc/tollgate", "usr", "usr/share", "usr/share/doc", "proc", "dev", "sys"].map((path) =>
    folder(path),
  ),
  folder("tmp", 0o1777),
  folder("data", 0o700, USER),
  text(
    "etc/passwd",
    `root:x:0:0:root:/:/nonexistent\ntollgate:x:${USER}:${USER}:tollgate:${DATA}:/nonexistent\n`,
  ),
  text("etc/group", `root:x:0:\ntollgate:x:${USER}:\n`),
  text("etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n"),
];

/** The commit time of this tree; `SOURCE_DATE_EPOCH` outside a repository. */
async function createdSeconds(): Promise<number> {
  const given = process.env["SOURCE_DATE_EPOCH"];
  return Number(given ?? (await run("git", "log", "-1", "--format=%ct").catch(() => "0")));
}

const { version, description, license } = (await Bun.file(join(root, "package.json")).json()) as Record<
  string,
  string
>;
const revision = await run("git", "rev-parse", "HEAD").catch(() => "unknown");
const processor = processorOf(values.target);
const out = resolve(root, values.out);
const digest = await writeImage(out, {
  processor,
  name: "tollgate",
  version: version ?? "",
  createdSeconds: await createdSeconds(),
  layers: [
    [...system(), ...(await libcEntries(root, processor, values.libc))],
    await programEntries(values.target),
  ],
  labels: {
    "org.opencontainers.image.title": "tollgate",
    "org.opencontainers.image.description": description ?? "",
    "org.opencontainers.image.version": version ?? "",
    "org.opencontainers.image.licenses": license ?? "",
    "org.opencontainers.image.revision": revision,
  },
  config: {
    User: `${USER}:${USER}`,
    Entrypoint: ["/tollgate"],
    Cmd: ["serve"],
    Env: [
      "PATH=/",
      "HOME=/data",
      "HOST=0.0.0.0",
      "PORT=8080",
      "TOLLGATE_DATA_DIR=/data/tollgate",
      "BUN_CONFIG_MAX_HTTP_REQUESTS=65336",
    ],
    ExposedPorts: { "8080/tcp": {} },
    Volumes: { [DATA]: {} },
    WorkingDir: "/etc/tollgate",
    StopSignal: "SIGTERM",
    // Docker's own member, which the OCI specification allows; Kubernetes probes /readyz.
    Healthcheck: {
      Test: ["CMD", "/tollgate", "ready"],
      Interval: 10_000_000_000,
      Timeout: 5_000_000_000,
      StartPeriod: 10_000_000_000,
      Retries: 3,
    },
  },
});
await run("tar", "-cf", `${out}.tar`, "-C", out, "oci-layout", "index.json", "manifest.json", "blobs");
const bytes = [...new Bun.Glob("blobs/sha256/*").scanSync(out)].reduce(
  (sum, path) => sum + Bun.file(join(out, path)).size,
  0,
);
console.log(`${out}  ${digest}  ${Math.round(bytes / 1_000_000)} MB compressed`);
