// `npm run image`: checks its layers, and runs its unpacked file system as a container runtime would: read-only, as
// its own user, with nothing of this machine in it. The C library is this machine's, so that nothing is downloaded.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { libcEntries, memberOf } from "../../scripts/image/libc.ts";
import { tarOf } from "../../scripts/image/tar.ts";
import { runToEnd } from "../support/program.ts";

const root = join(import.meta.dir, "../..");
const libraries = ["/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/lib64", "/usr/lib"].find((folder) =>
  existsSync(join(folder, "libc.so.6")),
);
const made = process.platform === "linux" && libraries !== undefined;
/** A mount namespace, as a container runtime makes one: as root, or as a user who may. */
const unshare = ["unshare", "--mount", ...(process.getuid?.() === 0 ? [] : ["--map-root-user"])];
const mounts = made && Bun.spawnSync([...unshare, "mount", "-t", "tmpfs", "none", "/mnt"]).exitCode === 0;
if (!made) console.warn("image.test.ts: no image is made here: it needs Linux with a C library of GNU's");
else if (!mounts)
  console.warn("image.test.ts: the image is not run here: this user may not make a mount namespace");

const folder = mkdtempSync(join(tmpdir(), "tollgate-image-"));
const image = join(folder, "image");
const files = join(folder, "files");

interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
}
const blob = (digest: string): Buffer => readFileSync(join(image, "blobs", digest.replace(":", "/")));
const document = <Value>(digest: string): Value => JSON.parse(blob(digest).toString()) as Value;

let said = "";
let program = process.env["TOLLGATE_TEST_PROGRAM"] ?? join(folder, "tollgate");
const make = (out: string) =>
  runToEnd(
    process.execPath,
    ["scripts/image.ts", "--program", program, "--libc", libraries ?? "", "--out", out],
    {
      cwd: root,
      env: { ...process.env, SOURCE_DATE_EPOCH: "1790000000" },
    },
  );

beforeAll(async () => {
  if (!made) return;
  if (!existsSync(program))
    expect(await runToEnd(process.execPath, ["scripts/build.ts", program], { cwd: root })).toMatchObject({
      code: 0,
    });
  const { code, out, err } = await make(image);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  said = out;
  mkdirSync(files);
  for (const { digest } of layers()) {
    const tar = Bun.spawn(["tar", "-xpzf", "-", "-C", files], {
      stdin: new Uint8Array(blob(digest)),
      stderr: "inherit",
    });
    expect(await tar.exited).toBe(0);
  }
}, 300_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const index = (): { manifests: Descriptor[] } => JSON.parse(readFileSync(join(image, "index.json"), "utf8"));
const manifest = () =>
  document<{ config: Descriptor; layers: Descriptor[] }>(index().manifests[0]?.digest ?? "");
const layers = (): Descriptor[] => manifest().layers;

test.skipIf(!made)("every blob has the digest in its name, in an OCI layout of at most 100 MB", async () => {
  expect(JSON.parse(readFileSync(join(image, "oci-layout"), "utf8"))).toEqual({
    imageLayoutVersion: "1.0.0",
  });
  const blobs = [...new Bun.Glob("blobs/sha256/*").scanSync(image)];
  const named = [...index().manifests, manifest().config, ...layers()];
  expect(blobs).toHaveLength(named.length);
  let total = 0;
  for (const { digest, size } of named) {
    const bytes = blob(digest);
    expect(`sha256:${createHash("sha256").update(bytes).digest("hex")}`).toBe(digest);
    expect(bytes.length).toBe(size);
    total += size;
  }
  expect(total).toBeLessThan(100_000_000);
  const [loaded] = JSON.parse(readFileSync(join(image, "manifest.json"), "utf8")) as [
    Record<string, unknown>,
  ];
  const path = ({ digest }: Descriptor): string => `blobs/${digest.replace(":", "/")}`;
  expect(loaded).toEqual({
    Config: path(manifest().config),
    RepoTags: [expect.stringMatching(/^tollgate:\d/)],
    Layers: layers().map(path),
  });
  const { rootfs } = document<{ rootfs: { diff_ids: string[] } }>(manifest().config.digest);
  const unpacked = layers().map(({ digest }) => Bun.gunzipSync(new Uint8Array(blob(digest))));
  expect(rootfs.diff_ids).toEqual(
    unpacked.map((bytes) => `sha256:${createHash("sha256").update(bytes).digest("hex")}`),
  );
});

test.skipIf(!made)(
  "made again it has the same digest",
  async () => {
    const { out } = await make(join(folder, "again"));
    const digest = /sha256:\w+/;
    expect(out.match(digest)?.[0]).toBe(said.match(digest)?.[0] ?? "none");
    expect(index().manifests[0]?.digest).toBe(said.match(digest)?.[0] ?? "none");
  },
  120_000,
);

test.skipIf(!made)(
  "it runs as an unprivileged user, declares its health check and its name, and has no shell",
  async () => {
    const { config } = document<{ config: Record<string, never> }>(manifest().config.digest);
    expect(config).toMatchObject({
      User: "65532:65532",
      Entrypoint: ["/tollgate"],
      Cmd: ["serve"],
      Healthcheck: { Test: ["CMD", "/tollgate", "ready"] },
      Labels: {
        "org.opencontainers.image.title": "tollgate",
        "org.opencontainers.image.licenses": "Apache-2.0",
      },
    });
    const listed = [...new Bun.Glob("**/*").scanSync({ cwd: files, dot: true })].toSorted();
    expect(listed.filter((path) => /(^|\/)(sh|bash|busybox|apt|dpkg|curl)$/.test(path))).toEqual([]);
    for (const path of ["tollgate", "lib/libc.so.6", "etc/passwd"]) expect(listed).toContain(path);
    expect(listed.length).toBeLessThan(20);
    const modes = await runToEnd("find", [
      files,
      "-perm",
      "/6000",
      "-o",
      "-perm",
      "-0002",
      "-not",
      "-type",
      "l",
    ]);
    expect(modes.out.trim().split("\n")).toEqual([join(files, "tmp")]); // nothing gains privileges, nothing else is open
  },
);

/** Like a runtime: the root read-only, the kernel's /proc and /dev, /data and /tmp in memory, the image's user. */
const CONTAINER = `set -e
mount --bind "$0" "$0"; cd "$0"
mount --rbind /proc proc; mount --rbind /dev dev
mount -t tmpfs -o mode=1777 none data; mount -t tmpfs -o mode=1777 none tmp
mount -o remount,bind,ro "$0"
exec chroot $WHO "$0" /tollgate "$@"`;
const WHO = process.getuid?.() === 0 ? "--userspec=65532:65532" : "";
const environment = {
  WHO,
  PATH: process.env["PATH"] ?? "",
  TOLLGATE_DATA_DIR: "/data/tollgate",
  TOLLGATE_LOG_LEVEL: "silent",
};

test.skipIf(!mounts)(
  "unpacked, it serves a metered call from a read-only root",
  async () => {
    const gateway = Bun.spawn([...unshare, "sh", "-c", CONTAINER, files, "serve", "--port", "0"], {
      env: environment,
      stdin: "ignore",
      stdout: "pipe",
      stderr: "inherit",
    });
    try {
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
      expect((await fetch(`${url}/sign-in`)).status).toBe(200);
      const ready = (at: string) => runToEnd(join(files, "tollgate"), ["ready", "--url", at], { env: {} });
      expect(await ready(url)).toMatchObject({ code: 0, out: `${url} accepts requests.\n` });
      expect(await ready("http://127.0.0.1:1")).toMatchObject({
        code: 1,
        err: expect.stringContaining("Nothing answers"),
      });
      gateway.kill("SIGTERM"); // unshare, sh and chroot became it
      expect(await gateway.exited).toBe(0);
    } finally {
      gateway.kill("SIGKILL");
      await gateway.exited;
    }
  },
  120_000,
);

test.skipIf(!mounts)(
  "without a writable data directory it says so and ends",
  async () => {
    const ended = await runToEnd(
      unshare[0] ?? "",
      [...unshare.slice(1), "sh", "-c", CONTAINER, files, "serve", "--port", "0"],
      {
        env: { ...environment, TOLLGATE_DATA_DIR: "/etc/tollgate/data" },
      },
    );
    expect(ended.code).toBe(1);
    expect(ended.err).toContain("the data directory /etc/tollgate/data cannot be written");
  },
  120_000,
);

test("a tar entry that a header cannot name, and another C library, are refused", async () => {
  expect(() => tarOf([{ path: "x".repeat(101), mode: 0o644 }], 0)).toThrow("longer than");
  writeFileSync(join(folder, "libc6.deb"), "!<arch>\n");
  expect(await libcEntries(root, "x64", join(folder, "libc6.deb")).catch(String)).toContain("its SHA-256 is");
  mkdirSync(join(folder, "empty"));
  expect(await libcEntries(root, "arm64", join(folder, "empty")).catch(String)).toContain(
    "has no ld-linux-aarch64.so.1",
  );
});

test("a file is found in Debian's archives", () => {
  const member = (name: string, content: string): string =>
    `${name.padEnd(16)}${"0".padEnd(12)}${"0".padEnd(6)}${"0".padEnd(6)}${"100644".padEnd(8)}${String(content.length).padEnd(10)}\`\n${content}${content.length % 2 === 1 ? "\n" : ""}`;
  const archive = Buffer.from(
    `!<arch>\n${member("debian-binary", "2.0")}${member("data.tar.xz", "the data")}`,
  );
  expect(Buffer.from(memberOf(archive, "data.tar.xz")).toString()).toBe("the data");
  expect(() => memberOf(archive, "control.tar.xz")).toThrow("has no control.tar.xz");
  expect(() => memberOf(Buffer.from("!<arch>\nnonsense".padEnd(200)), "data.tar.xz")).toThrow(
    "has no data.tar.xz",
  );
});
