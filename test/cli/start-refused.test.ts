// A start that cannot succeed ends at once with exit code 1 and says why and what to do, whoever holds what it needs.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, chownSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateReleaseKey } from "../../src/releases/release-key.ts";
import { testPostgres } from "../support/postgres.ts";
import { serveProcess } from "../support/served.ts";
import { PROGRAM } from "../support/program.ts";

/** Another user without privileges. */
const NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
const asRoot = process.getuid?.() === 0 && Bun.which("setpriv") !== null;
const mayMount =
  Bun.which("unshare") !== null &&
  Bun.spawnSync(["unshare", "--mount", "true"], { stderr: "ignore" }).success;
const lowPortsAreClosed = Number(textOf("/proc/sys/net/ipv4/ip_unprivileged_port_start") || "1024") > 81;

function textOf(path: string): string {
  return existsSync(path) ? readFileSync(path, "utf8").trim() : "";
}

let folder: string;
let taken: Bun.Server<undefined>;
let port: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tollgate-refused-"));
  chmodSync(folder, 0o777);
  taken = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("somebody else's") });
  port = String(taken.port);
});
afterAll(async () => {
  await taken.stop(true);
  rmSync(folder, { recursive: true, force: true });
});

const PATIENCE_MS = 90_000;

async function refused(
  args: string[],
  more: { env?: Record<string, string>; through?: string[] } = {},
): Promise<{ stderr: string; stdout: string }> {
  const { code, signal, stderr, stdout } = await serveProcess({ folder, args, ...more }).ended;
  expect({ code, signal, stderr }).toEqual({ code: 1, signal: null, stderr });
  expect(stderr).not.toMatch(/\n\s+at |"level":50/); // no stack trace, and nothing keeps running
  return { stderr, stdout };
}

describe("a port that is taken", () => {
  const owner = (): string => `is in use by process ${process.pid} (bun`; // or npm's name for it, bun.exe
  const wayOut = (): string => `--port ${Number(port) + 1} or PORT=${Number(port) + 1}`;

  test(
    "names its owner and the remedy; the next start still shows the demo key",
    async () => {
      const { stderr } = await refused(["--port", port, "--data-dir", join(folder, "a")]);
      expect(stderr).toContain(`Port ${port} of 127.0.0.1 ${owner()}`);
      expect(stderr).toContain(wayOut());
      expect(existsSync(join(folder, "a/operator.json"))).toBe(false);
      const { child, ended } = serveProcess({
        folder,
        args: ["--port", "0", "--data-dir", join(folder, "a")],
      });
      while (!existsSync(join(folder, "a/operator.json"))) await Bun.sleep(20);
      child.kill("SIGTERM");
      const second = await ended;
      expect(second.code).toBe(0);
      expect(second.stdout).toContain("gw_sk_");
    },
    PATIENCE_MS,
  );

  test("by PORT and with every address, too", async () => {
    const env = { PORT: port, HOST: "0.0.0.0" };
    const { stderr } = await refused(["--data-dir", join(folder, "b")], { env });
    expect(stderr).toContain(`Port ${port} of 0.0.0.0 ${owner()}`);
  });

  test.skipIf(!asRoot)("by a process that this user may not see: how to find it", async () => {
    const { stderr } = await refused(["--port", port, "--data-dir", join(folder, "c")], { through: NOBODY });
    expect(stderr).toContain(`Port ${port} of 127.0.0.1 is in use by a process that this user may not see.`);
    expect(stderr).toContain(`sport = :${port}`);
  });

  test(
    "with several workers: also when another gateway shares the port among its own",
    async () => {
      const database = await (await testPostgres()).database();
      const other = Bun.serve({
        port: 0,
        hostname: "127.0.0.1",
        reusePort: true,
        fetch: () => new Response(),
      });
      try {
        for (const used of [port, String(other.port)]) {
          const args = ["--workers", "2", "--port", used, "--data-dir", join(folder, "d")];
          const { stderr } = await refused(args, { env: { DATABASE_URL: database.url } });
          expect(stderr).toContain(`Port ${used} of 127.0.0.1 ${owner()}`);
        }
      } finally {
        await other.stop(true);
        await database.drop();
      }
    },
    PATIENCE_MS,
  );

  test("the simulator says the same", async () => {
    const child = Bun.spawn([PROGRAM, "simulator", "--port", port], {
      stdout: "ignore",
      stderr: "pipe",
    });
    expect(await new Response(child.stderr).text()).toContain(owner());
    expect(await child.exited).toBe(1);
  });
});

describe("an address that is not available", () => {
  test("one of another machine", async () => {
    const { stderr } = await refused(["--host", "192.0.2.1", "--port", "0", "--data-dir", join(folder, "e")]);
    expect(stderr).toContain("192.0.2.1 is not an address of this machine.");
    expect(stderr).toContain("--host 127.0.0.1");
  });

  test("an unknown name", async () => {
    const { stderr } = await refused([
      "--host",
      "none.invalid",
      "--port",
      "0",
      "--data-dir",
      join(folder, "f"),
    ]);
    expect(stderr).toContain("none.invalid");
    expect(stderr).toContain("--host 127.0.0.1");
  });

  test.skipIf(!asRoot || !lowPortsAreClosed)("a port below 1024 without the privilege", async () => {
    const { stderr } = await refused(["--port", "81", "--data-dir", join(folder, "g")], { through: NOBODY });
    expect(stderr).toContain("Port 81 is below 1024, and this user may not open it.");
    expect(stderr).toContain("--port 8080");
  });
});

describe("trusted keys", () => {
  const start = async (...keys: object[]): Promise<string> => {
    const place = mkdtempSync(join(folder, "trust-"));
    const files = keys.map((key, n) => {
      const file = join(place, `key-${n}.jwk`);
      writeFileSync(file, JSON.stringify(key));
      return file;
    });
    const config = join(place, "tollgate.yaml");
    writeFileSync(config, `trust: { release_keys: ${JSON.stringify(files)} }\n`);
    const args = ["--config", config, "--port", "0", "--data-dir", join(place, "data")];
    return (await refused(args)).stderr;
  };
  const named = async (kid: string): Promise<object> => ({ ...(await generateReleaseKey()).publicJwk, kid });

  test("two keys of one name: releases of the first would be refused as forged, as if nobody trusted it", async () => {
    expect(await start(await named("prod"), await named("prod"))).toContain(
      'Two different keys are named "prod"',
    );
  });

  test("a file without a key is named", async () => {
    const broken = { ...(await generateReleaseKey()).publicJwk, x: "AAAA" };
    for (const odd of [broken, { kty: "RSA" }])
      expect(await start(await named("good"), odd)).toMatch(/key-1\.jwk: This is not a public Ed25519 key/);
  });
});

describe("a data directory that cannot be written", () => {
  test("a file is in its place, or in its path", async () => {
    const file = join(folder, "file");
    writeFileSync(file, "");
    for (const place of [file, join(file, "data")]) {
      const { stderr } = await refused(["--port", "0", "--data-dir", place]);
      expect(stderr).toContain(`the data directory ${place} cannot be written`);
      expect(stderr).toContain("TOLLGATE_DATA_DIR");
    }
  });

  test.skipIf(!mayMount)("one of a file system that is mounted read-only, even for root", async () => {
    const place = mkdtempSync(join(folder, "read-only-"));
    const mounted = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o ro tmpfs "$0" && exec "$@"', place];
    const { stderr } = await refused(["--port", "0", "--data-dir", place], { through: mounted });
    expect(stderr).toContain(`the data directory ${place} cannot be written (EROFS: read-only file system`);
    expect(stderr).toContain("name another one with --data-dir or TOLLGATE_DATA_DIR");
  });

  test.skipIf(!asRoot)("another user's, or one in which another user began", async () => {
    const place = mkdtempSync(join(folder, "roots-"));
    const start = (): Promise<{ stderr: string }> =>
      refused(["--port", "0", "--data-dir", place], { through: NOBODY });
    expect((await start()).stderr).toContain(`the data directory ${place} cannot be written`);
    writeFileSync(join(place, "tollgate.lock"), "", { mode: 0o600 });
    chownSync(place, 65534, 65534);
    const { stderr } = await start();
    expect(stderr).toContain(`${place}/tollgate.lock cannot be read and written (EACCES`);
    expect(stderr).toContain(`chown -R USER ${place}`);

    rmSync(join(place, "tollgate.lock"));
    writeFileSync(join(place, "demo-release.private.jwk"), "{}", { mode: 0o600 });
    const key = (await start()).stderr;
    expect(key).toContain(`${place}/demo-release.private.jwk cannot be read (EACCES`);
    expect(key).toContain(`chown -R USER ${place}`);
  });
});
