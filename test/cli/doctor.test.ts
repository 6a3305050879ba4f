// `doctor` finds the running gateway like every command: from a shell with another PORT, or none.
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serveProcess, type Served } from "../support/served.ts";
import { waitFor } from "../support/wait.ts";
import { PROGRAM, runToEnd } from "../support/program.ts";

const PATIENCE_MS = 90_000;
let folder: string;
let gateway: Served;
const data = (): string => join(folder, "data");

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tollgate-doctor-"));
  gateway = serveProcess({ folder, args: ["--port", "0"] });
  await waitFor(async () => existsSync(join(data(), "operator.json")), "a gateway");
}, PATIENCE_MS);
afterAll(async () => {
  gateway.child.kill("SIGTERM");
  await gateway.ended;
  rmSync(folder, { recursive: true, force: true });
}, PATIENCE_MS);

async function told(env: Record<string, string> = {}): Promise<{ found: string; next: string }> {
  const doctor = Bun.spawn([PROGRAM, "doctor", "--json"], {
    cwd: folder,
    env: { ...process.env, PORT: "1", ...env },
    stdout: "pipe",
    stderr: "ignore",
  });
  const { findings, next } = (await new Response(doctor.stdout).json()) as {
    findings: { check: string; found: string }[];
    next: string;
  };
  return { found: findings.find(({ check }) => check === "gateway")?.found ?? "", next };
}

const found = async (): Promise<string> => (await told()).found;

test(
  "a gateway that serves another store is not taken for this one's: it has the port that a start here would want",
  async () => {
    const { url } = (await Bun.file(join(data(), "operator.json")).json()) as { url: string };
    const { DATABASE_URL: _, TOLLGATE_DATA_DIR: __, ...env } = process.env;
    const left = join(folder, "left-behind"); // by a gateway that was killed; another one has its port now
    mkdirSync(left);
    cpSync(join(data(), "operator.json"), join(left, "operator.json"));
    for (const directory of [join(folder, "never-used"), left]) {
      const start = ["--port", new URL(url).port, "--data-dir", directory];
      const doctor = await runToEnd(PROGRAM, ["doctor", "--json", ...start], { cwd: folder, env });
      const { findings } = JSON.parse(doctor.out) as { findings: { check: string }[] };
      expect(findings.find(({ check }) => check === "gateway")).toMatchObject({
        state: "note",
        found: `not running; the gateway at ${url} has another store`,
        next: expect.stringContaining("--data-dir"),
      });
      expect(findings.find(({ check }) => check === "address")).toMatchObject({
        state: "wrong",
        found: expect.stringContaining("is in use by process"),
      });
      const serve = await runToEnd(PROGRAM, ["serve", ...start], { cwd: folder, env });
      expect([doctor.code, serve.code]).toEqual([1, 1]);
    }
  },
  PATIENCE_MS,
);

test(
  "a gateway on a port that this shell does not know, and none once it has ended",
  async () => {
    expect(await found()).toMatch(
      /^running and ready at http:\/\/127\.0\.0\.1:\d+, found through operator\.json/,
    );
    expect((await told()).next).toBe("./tollgate --help");
    gateway.child.kill("SIGTERM");
    await gateway.ended;
    expect(await told()).toEqual({ found: "not running", next: "./tollgate serve" });
    // A process that has the directory and does not answer yet is reported.
    writeFileSync(join(data(), "tollgate.pid"), `${process.pid}\n`);
    expect(await told()).toEqual({
      found: `process ${process.pid} holds ${data()} but does not answer`,
      next: "It is starting, or hangs: wait, check its log, or stop it. No other gateway can start there.",
    });
  },
  PATIENCE_MS,
);

/** The finding about the store, and whether `serve` starts there. */
async function ofStore(dataDir: string): Promise<{ store: unknown; doctor: number; serve: number | null }> {
  const { DATABASE_URL: _, ...env } = process.env;
  const { out, code } = await runToEnd(PROGRAM, ["doctor", "--json", "--data-dir", dataDir], {
    cwd: folder,
    env,
  });
  const { findings } = JSON.parse(out) as { findings: { check: string; state: string; found: string }[] };
  const { ended } = serveProcess({ folder, args: ["--port", "0", "--data-dir", dataDir] });
  return {
    store: findings.find(({ check }) => check === "store"),
    doctor: code,
    serve: (await ended).code,
  };
}

test(
  "a store that serve does not open is wrong: moved to PostgreSQL, of a newer program, without its data key",
  async () => {
    const copyOfData = (name: string): string => {
      cpSync(data(), join(folder, name), { recursive: true });
      return join(folder, name);
    };
    const moved = copyOfData("moved");
    renameSync(join(moved, "tollgate.sqlite"), join(moved, "tollgate.sqlite.moved"));
    const newer = copyOfData("newer");
    const database = new Database(join(newer, "tollgate.sqlite"));
    database.run("INSERT INTO schema_migration VALUES (9000, 'later', 'x', 0)");
    database.close();
    const keyless = copyOfData("keyless");
    rmSync(join(keyless, "data.key"));
    for (const [dataDir, found] of [
      [moved, "was moved to PostgreSQL"],
      [newer, "has schema 9000"],
      [keyless, "data.key does not hold the data key"],
    ] as const)
      expect(await ofStore(dataDir)).toEqual({
        store: expect.objectContaining({ state: "wrong", found: expect.stringContaining(found) }),
        doctor: 1,
        serve: 1,
      });
  },
  PATIENCE_MS,
);

test(
  "a gateway that has release keys but no model for sale says so and what to do, as does one that was never backed up",
  async () => {
    const at = mkdtempSync(join(tmpdir(), "tollgate-doctor-real-"));
    const { DATABASE_URL: _, TOLLGATE_DATA_DIR: __, ...env } = process.env;
    const run = (...args: string[]) => runToEnd(PROGRAM, args, { cwd: at, env });
    const doctor = async () => {
      const { findings, next } = JSON.parse((await run("doctor", "--json")).out) as {
        findings: { check: string; state: string; found: string; next: string | null }[];
        next: string;
      };
      const of = (check: string) => findings.find((finding) => finding.check === check);
      return { routes: of("routes"), backup: of("backup"), next };
    };
    await run("release", "keygen", "--out", "keys");
    const settings = { trust: { release_keys: ["./keys/release.public.jwk"] }, listen: { port: 0 } };
    writeFileSync(join(at, "tollgate.yaml"), JSON.stringify({ ...settings, providers: [SIMULATOR] }));
    expect(await doctor()).toEqual({ routes: undefined, backup: undefined, next: "./tollgate serve" });
    const real = serveProcess({ folder: at });
    try {
      await waitFor(async () => existsSync(join(at, "data/operator.json")), "a gateway");
      expect(await doctor()).toEqual({
        routes: { check: "routes", state: "note", found: "none: no model is served", next: PUBLISH },
        backup: { check: "backup", state: "note", found: "none was made with this program", next: BACK_UP },
        next: PUBLISH,
      });
      await sell(at, run, "2d");
      expect(await doctor()).toMatchObject({
        routes: { state: "ok", found: "1 live" },
        next: "./tollgate --help",
      });
      await run("route", "disable", "m@simulator/local", "--yes");
      expect((await doctor()).routes).toMatchObject({
        state: "note",
        found: "1 disabled",
        next: "./tollgate route list",
      });
      expect((await run("db", "backup", "one.sqlite")).code).toBe(0);
      expect((await doctor()).backup).toMatchObject({ state: "ok", next: null });
      const file = join(at, "data/last-backup.json");
      writeFileSync(file, JSON.stringify({ at: "2020-01-01T00:00:00.000Z", bytes: 1 }));
      expect((await doctor()).backup).toMatchObject({
        state: "note",
        found: "the last one was made at 2020-01-01T00:00:00.000Z",
        next: BACK_UP,
      });
    } finally {
      real.child.kill("SIGTERM");
      expect((await real.ended).stdout).toContain("No model is served yet");
      rmSync(at, { recursive: true, force: true });
    }
  },
  PATIENCE_MS,
);

test(
  "a configuration file changed since the gateway started is reported, and so is one other than the gateway's",
  async () => {
    const at = mkdtempSync(join(tmpdir(), "tollgate-doctor-older-"));
    const { DATABASE_URL: _, TOLLGATE_DATA_DIR: __, ...env } = process.env;
    const file = join(at, "tollgate.yaml");
    const inUse = async (...args: string[]) => {
      const { out, code } = await runToEnd(PROGRAM, ["doctor", "--json", ...args], { cwd: at, env });
      const { findings } = JSON.parse(out) as { findings: { check: string; state: string; found: string }[] };
      const { state, found } = findings.find(({ check }) => check === "configuration in use") ?? {};
      return { code, state, found };
    };
    writeFileSync(file, "listen: { port: 0 }\n");
    expect(await inUse()).toEqual({ code: 0, state: undefined, found: undefined });
    const running = serveProcess({ folder: at });
    try {
      await waitFor(async () => existsSync(join(at, "data/operator.json")), "a gateway");
      expect(await inUse()).toEqual({
        code: 0,
        state: "ok",
        found: `${file}, unchanged since the gateway started`,
      });
      writeFileSync(file, "listen: { port: 0 }\nlog: { level: debug }\n");
      expect(await inUse()).toEqual({
        code: 0,
        state: "note",
        found: `${file} has changed since the gateway started`,
      });
      writeFileSync(join(at, "other.yaml"), "data_dir: ./data\n");
      expect(await inUse("--config", "other.yaml")).toEqual({
        code: 0,
        state: "note",
        found: `the gateway runs with ${file}, not with ${join(at, "other.yaml")}`,
      });
      rmSync(file);
      expect(await inUse()).toEqual({
        code: 0,
        state: "note",
        found: `the gateway runs with ${file}, which no longer exists`,
      });
    } finally {
      running.child.kill("SIGTERM");
      await running.ended;
      rmSync(at, { recursive: true, force: true });
    }
  },
  PATIENCE_MS,
);

const SIMULATOR = { name: "simulator", kind: "simulator" };
const PUBLISH = "Sign a release and publish it: docs/releases.md, From nothing to a served model.";
const BACK_UP = "./tollgate db backup FILE, and keep a copy of data.key in a separate place.";

async function sell(
  folder: string,
  run: (...args: string[]) => Promise<unknown>,
  ends: string,
): Promise<void> {
  const manifest = {
    model: "m",
    provider: "simulator",
    upstream_model: "sim-plain-1",
    region: "local",
    version: 1,
    tier: "standard",
    requires_paid: false,
    context_window: 131_072,
    max_output_tokens: 8192,
    default_output_tokens: 1024,
    pricing: { currency: "USD", input_per_million: "1", output_per_million: "2", request_minimum: "0" },
    tokenizer: "o200k_base",
  };
  writeFileSync(join(folder, "m.yaml"), JSON.stringify(manifest));
  await run("release", "sign", "m.yaml", "--key", "keys/release.private.jwk", "--expires-in", ends);
  await run("release", "publish", "m.jws");
}
