// The C library that Bun's program is linked with: five files of Debian's libc6, from a pinned package or from a
// folder.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Entry } from "./tar.ts";

export type Processor = "x64" | "arm64";

const VERSION = "2.36-9+deb12u14";
const SHA256 = {
  x64: "ba4f88f73dbc3ae9055f3c20f4523bfdbaf1ad13ff95e258924f77d20b4fbedf",
  arm64: "01f4330719fd4f65580e16ea5a0527f372fca750e8f588d26deaf09f2d3b1cf4",
};
const DEBIAN = { x64: "amd64", arm64: "arm64" };
const TRIPLET = { x64: "x86_64-linux-gnu", arm64: "aarch64-linux-gnu" };
const LOADER = { x64: "ld-linux-x86-64.so.2", arm64: "ld-linux-aarch64.so.1" };
const LIBRARIES = ["libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2"];
const COPYRIGHT = "usr/share/doc/libc6/copyright";

const namesOf = (processor: Processor): string[] => [LOADER[processor], ...LIBRARIES];

/**
 * Returns the loader and the libraries as entries below `lib`, and the path where the program looks for its loader.
 * `given` is a folder with these files, or Debian's package as a file; without it the pinned package is downloaded
 * once.
 */
export async function libcEntries(
  root: string,
  processor: Processor,
  given: string | undefined,
): Promise<Entry[]> {
  if (given !== undefined && statSync(given).isDirectory()) return fromFolder(given, processor);
  return await fromPackage(given ?? (await fetched(root, processor)), processor);
}

function fromFolder(folder: string, processor: Processor): Entry[] {
  const missing = namesOf(processor).filter((name) => !existsSync(join(folder, name)));
  if (missing.length > 0) throw new Error(`${folder} has no ${missing.join(", ")}`);
  return placed(processor, (name) => readFileSync(join(folder, name)));
}

const placed = (processor: Processor, read: (name: string) => Uint8Array): Entry[] => [
  { path: "lib", mode: 0o755 },
  ...namesOf(processor).map((name) => ({ path: `lib/${name}`, mode: 0o755, content: read(name) })),
  ...(processor === "x64" ? [{ path: "lib64", mode: 0o777, content: { link: "lib" } }] : []),
];

async function fromPackage(file: string, processor: Processor): Promise<Entry[]> {
  const bytes = readFileSync(file);
  const found = createHash("sha256").update(bytes).digest("hex");
  if (found !== SHA256[processor])
    throw new Error(
      `${file} is not libc6 ${VERSION} for ${processor}: its SHA-256 is ${found}, not ${SHA256[processor]}`,
    );
  const folder = await mkdtemp(join(tmpdir(), "tollgate-libc-"));
  try {
    const tar = Bun.spawn(["tar", "-xJf", "-", "-C", folder], {
      stdin: memberOf(bytes, "data.tar.xz"),
      stderr: "pipe",
    });
    const [said, code] = await Promise.all([tar.stderr.text(), tar.exited]);
    if (code !== 0) throw new Error(`${file} cannot be unpacked (tar and xz are needed): ${said.trim()}`);
    return [
      ...placed(processor, (name) => readFileSync(join(folder, "lib", TRIPLET[processor], name))),
      { path: "usr/share/doc/libc6", mode: 0o755 },
      { path: COPYRIGHT, mode: 0o644, content: readFileSync(join(folder, COPYRIGHT)) },
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Extracts a file from an `ar` archive, which a .deb is: 60-byte headers, contents aligned to even offsets. */
export function memberOf(archive: Uint8Array, wanted: string): Uint8Array<ArrayBuffer> {
  const bytes = Buffer.from(archive);
  for (let at = "!<arch>\n".length; at + 60 <= bytes.length; ) {
    const name = bytes
      .toString("latin1", at, at + 16)
      .trim()
      .replace(/\/$/, "");
    const size = Number(bytes.toString("latin1", at + 48, at + 58).trim());
    if (!Number.isSafeInteger(size)) break;
    if (name === wanted) return new Uint8Array(bytes.subarray(at + 60, at + 60 + size));
    at += 60 + size + (size % 2);
  }
  throw new Error(`the package has no ${wanted}`);
}

async function fetched(root: string, processor: Processor): Promise<string> {
  const name = `libc6_${VERSION}_${DEBIAN[processor]}.deb`;
  const folder = join(root, "node_modules/.cache/libc");
  const file = join(folder, name);
  if (existsSync(file)) return file;
  const url = `https://deb.debian.org/debian/pool/main/g/glibc/${encodeURIComponent(name)}`;
  const answer = await fetch(url).catch((error: unknown) => new Response(String(error), { status: 599 }));
  if (!answer.ok)
    throw new Error(
      `${url} cannot be had (${answer.status}). Get ${name} from a mirror or snapshot.debian.org and name it: --libc FILE`,
    );
  await mkdir(folder, { recursive: true });
  const part = `${file}.${process.pid}`;
  await Bun.write(part, await answer.bytes());
  await rename(part, file);
  return file;
}
