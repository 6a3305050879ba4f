// `db restore`: afterwards a gateway serves the content of the backup, whatever was in its place. A backup that
// cannot be served is refused before anything is changed, and a killed restore is finished by the same command.
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PROGRAM, type Ran, runToEnd } from "../support/program.ts";
import { serveProcess } from "../support/served.ts";

const PATIENCE_MS = 120_000;

let folder: string;
let backup: string;
/** A gateway's directory as a kill left it: its last commits are in the write-ahead log. */
let crashed: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tollgate-restore-"));
  crashed = join(folder, "crashed");
  backup = join(folder, "backup");
  await serving(crashed, async () => {
    await done(["--data-dir", crashed, "org", "create", "--name", "In the backup"]);
    await done(["--data-dir", crashed, "db", "backup", backup]);
    for (const name of ["Later", "Later still"])
      await done(["--data-dir", crashed, "org", "create", "--name", name]);
    const refused = await failed(["--data-dir", crashed, "db", "restore", backup]);
    expect(refused.err).toMatch(/is in use by process \d+; stop it first/);
  });
}, PATIENCE_MS);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function done(args: string[], env: Record<string, string> = {}): Promise<Ran> {
  const ran = await runToEnd(PROGRAM, args, { cwd: folder, env: surroundings(env) });
  expect({ args, ...ran, code: 0 }).toEqual({ args, ...ran });
  return ran;
}

async function failed(args: string[], env: Record<string, string> = {}): Promise<Ran> {
  const ran = await runToEnd(PROGRAM, args, { cwd: folder, env: surroundings(env) });
  expect({ args, ...ran, code: 1 }).toEqual({ args, ...ran });
  expect(ran.err).toContain("→ ");
  return ran;
}

const surroundings = (env: Record<string, string>): NodeJS.ProcessEnv => {
  const { DATABASE_URL: _, ...mine } = process.env;
  return { ...mine, TOLLGATE_LOG_LEVEL: "silent", ...env };
};

/** Kills the gateway afterwards, as a power failure would. */
async function serving(dataDir: string, work: () => Promise<void>): Promise<void> {
  rmSync(join(dataDir, "operator.json"), { force: true });
  const { child, ended } = serveProcess({ folder, args: ["--port", "0", "--data-dir", dataDir] });
  try {
    while (!existsSync(join(dataDir, "operator.json"))) {
      expect(child.exitCode).toBeNull();
      await Bun.sleep(20);
    }
    await work();
  } finally {
    child.kill("SIGKILL");
    await ended;
  }
}

async function namesIn(dataDir: string): Promise<string[]> {
  let names: string[] = [];
  await serving(dataDir, async () => {
    const { out } = await done(["--data-dir", dataDir, "--json", "org", "list"]);
    names = (JSON.parse(out) as { data: { name: string }[] }).data.map(({ name }) => name).sort();
    await done(["--data-dir", dataDir, "ledger", "audit"]);
  });
  return names;
}

function copyOf(dataDir: string, name: string): string {
  const copy = join(folder, name);
  cpSync(dataDir, copy, { recursive: true });
  return copy;
}

/** File → content, of what belongs to the store. */
const contentOf = (dataDir: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(dataDir)
      .filter((name) => name.includes(".sqlite") && !name.endsWith("-shm"))
      .map((name) => [name, Bun.hash(readFileSync(join(dataDir, name))).toString()]),
  );

test(
  "after a crash the backup is what is served; the old store is kept whole, and can be restored itself",
  async () => {
    const dataDir = copyOf(crashed, "after-crash");
    expect(existsSync(join(dataDir, "tollgate.sqlite-wal"))).toBe(true);
    const { out } = await done(["--data-dir", dataDir, "--json", "db", "restore", backup]);
    const told = JSON.parse(out) as { kept: string[]; people: string | null };
    expect(told.people).toBeNull();
    expect(told.kept.map((file) => file.replace(/.*before-[\dTZ-]+Z/, "")).sort()).toEqual([
      "",
      "-shm",
      "-wal",
    ]);
    expect(await namesIn(dataDir)).toEqual(["Demo", "In the backup"]);
    const old = told.kept.find((file) => file.endsWith("Z")) ?? "";
    const { out: words } = await done(["--data-dir", dataDir, "db", "restore", old]);
    expect(words).toContain(`./tollgate --data-dir ${dataDir} serve, and`);
    expect(words.trim()).toEndWith(`./tollgate --data-dir ${dataDir} ledger audit`);
    expect(await namesIn(dataDir)).toEqual(["Demo", "In the backup", "Later", "Later still"]);
  },
  PATIENCE_MS,
);

describe("refused, with everything as it was", () => {
  const cases: [what: string, backup: () => string, said: RegExp][] = [
    ["no such file", () => join(folder, "nothing"), /there is no backup at .*nothing/],
    [
      "a damaged one",
      () => spoiled("damaged", (bytes) => bytes.fill(0x5a, 8192, 65_536)),
      /cannot be restored/,
    ],
    ["a cut one", () => spoiled("cut", (bytes) => bytes.subarray(0, 100_000)), /cannot be restored/],
    ["an empty one", () => spoiled("empty", () => Buffer.alloc(0)), /cannot be restored \(it is empty\)/],
    ["another program's", () => changed("foreign", "DROP TABLE store_state"), /is not a Tollgate store/],
    [
      "one of a newer program",
      () => changed("newer", "INSERT INTO schema_migration VALUES (9000, 'later', 'x', 0)"),
      /has schema 9000, this program knows/,
    ],
    [
      "one of another store",
      () => changed("another", "UPDATE store_state SET data_key_check = x'00112233'"),
      /data\.key is not the key that this backup was made with/,
    ],
  ];
  for (const [what, make, said] of cases)
    test(
      what,
      async () => {
        const dataDir = copyOf(crashed, `refused-${Bun.hash(what)}`);
        const before = contentOf(dataDir);
        const { err } = await failed(["--data-dir", dataDir, "db", "restore", make()]);
        expect(err).toMatch(said);
        expect(contentOf(dataDir)).toEqual(before);
      },
      PATIENCE_MS,
    );

  test(
    "into a directory without the backup's data key",
    async () => {
      const dataDir = join(folder, "elsewhere");
      const { err } = await failed(["--data-dir", dataDir, "db", "restore", backup]);
      expect(err).toContain("./tollgate db key FILE");
      await done(["--data-dir", dataDir, "db", "key", join(crashed, "data.key")]);
      await done(["--data-dir", dataDir, "db", "restore", backup]);
      expect(await namesIn(dataDir)).toEqual(["Demo", "In the backup"]);
    },
    PATIENCE_MS,
  );

  test("a backup to where none can be made: the file, why, and what to name", async () => {
    const dangling = join(folder, "dangling");
    symlinkSync(join(folder, "nowhere"), dangling);
    for (const file of [join(folder, "no/such/folder"), "/proc/backup"]) {
      const { err } = await failed(["--data-dir", crashed, "db", "backup", file]);
      expect(err).toContain(`${file} cannot be made (E`);
      expect(err).toContain("→ Name a new file in a directory that exists");
    }
    const { err } = await failed(["--data-dir", crashed, "db", "backup", dangling]);
    expect(err).toContain(`${dangling} exists already.`);
    expect(existsSync(join(folder, "nowhere"))).toBe(false);
  });

  test("a store that has moved to PostgreSQL", async () => {
    const dataDir = copyOf(crashed, "moved");
    writeFileSync(join(dataDir, "tollgate.sqlite.moved"), "");
    const { err } = await failed(["--data-dir", dataDir, "db", "restore", backup]);
    expect(err).toContain("was moved to PostgreSQL");
  });

  function spoiled(name: string, change: (bytes: Buffer) => Uint8Array): string {
    const file = join(folder, name);
    writeFileSync(file, change(readFileSync(backup)));
    return file;
  }

  function changed(name: string, sql: string): string {
    const file = spoiled(name, (bytes) => bytes);
    const database = new Database(file);
    database.run(sql);
    database.close();
    return file;
  }
});

test(
  "a malformed store is reported at start and by doctor, with the command that repairs it",
  async () => {
    const dataDir = copyOf(crashed, "malformed");
    for (const suffix of ["-wal", "-shm"]) rmSync(join(dataDir, `tollgate.sqlite${suffix}`));
    writeFileSync(join(dataDir, "tollgate.sqlite"), readFileSync(backup).fill(0x5a, 4096, 65_536));
    const { code, stderr } = await serveProcess({ folder, args: ["--port", "0", "--data-dir", dataDir] })
      .ended;
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/malformed.*\.\/tollgate db restore FILE/),
    });
    const doctor = await runToEnd(PROGRAM, ["--data-dir", dataDir, "doctor"], { env: surroundings({}) });
    expect({ ...doctor, code: 1 }).toEqual({
      ...doctor,
      out: expect.stringContaining("./tollgate db restore FILE"),
    });
    await done(["--data-dir", dataDir, "db", "restore", backup]);
    expect(await namesIn(dataDir)).toEqual(["Demo", "In the backup"]);
  },
  PATIENCE_MS,
);

describe("killed in the middle", () => {
  test("a backup has no name yet, and the next one needs no other", async () => {
    const file = join(folder, "killed-backup");
    const args = ["--data-dir", crashed, "db", "backup", file];
    const killed = await runToEnd(PROGRAM, args, {
      env: surroundings({ TOLLGATE_CRASH_AT: "backup_written" }),
    });
    expect(killed.code).not.toBe(0);
    expect(readdirSync(folder).filter((name) => name.startsWith("killed-backup"))).toEqual([
      expect.stringMatching(/^killed-backup\.part-\d+$/),
    ]);
    await done(args);
    await done(["--data-dir", copyOf(crashed, "of-killed-backup"), "db", "restore", file]);
  });

  for (const at of ["restore_verified", "restore_set_aside"])
    test(
      `at ${at} no gateway opens anything, and the same command finishes it`,
      async () => {
        const dataDir = copyOf(crashed, at);
        const args = ["--data-dir", dataDir, "db", "restore", backup];
        const killed = await runToEnd(PROGRAM, args, { env: surroundings({ TOLLGATE_CRASH_AT: at }) });
        expect(killed.code).not.toBe(0);
        const refused = await serveProcess({ folder, args: ["--port", "0", "--data-dir", dataDir] }).ended;
        expect(refused).toMatchObject({ code: 1 });
        expect(refused.stderr).toContain("run the same ./tollgate db restore FILE again");
        const { code, out } = await runToEnd(PROGRAM, ["--data-dir", dataDir, "doctor"], {
          env: surroundings({}),
        });
        expect({ code, out }).toEqual({ code: 1, out: expect.stringContaining("db restore FILE") });
        await done(args);
        expect(await namesIn(dataDir)).toEqual(["Demo", "In the backup"]);
        const old = readdirSync(dataDir).filter((name) => /before-.*Z$/.test(name));
        expect(old).toHaveLength(1);
        expect(readdirSync(dataDir)).toContain(`${old[0]}-wal`);
      },
      PATIENCE_MS,
    );
});

describe("finds the store as serve does", () => {
  const URL = "postgres://someone@127.0.0.1:1/nowhere";
  function configured(text: string): string {
    const file = join(folder, "other.yaml");
    writeFileSync(file, text);
    return file;
  }

  test(
    "database_url of tollgate.yaml counts, other settings may lack their secrets",
    async () => {
      const config = configured(
        `database_url: ${URL}\npayments: { stripe_secret_key: "\${NOT_SET_HERE}" }\n`,
      );
      for (const args of [
        ["db", "backup", join(folder, "none")],
        ["db", "restore", backup],
      ]) {
        expect((await failed([...args, "--config", config])).err).toContain("The store is PostgreSQL");
        expect((await failed(args, { TOLLGATE_CONFIG: config })).err).toContain("The store is PostgreSQL");
      }
      expect((await failed(["db", "migrate", "--config", config])).err).toContain("127.0.0.1:1");
      expect((await failed(["db", "migrate"], { DATABASE_URL: URL })).err).toContain("127.0.0.1:1");
      expect(existsSync(join(folder, "data/tollgate.sqlite"))).toBe(false);
    },
    PATIENCE_MS,
  );

  test(
    "an unset variable in it stops the command",
    async () => {
      const config = configured('database_url: "${NOT_SET_HERE}"\n');
      const { err } = await failed(["db", "migrate", "--config", config]);
      expect(err).toContain("other.yaml:1: database_url: the environment variable NOT_SET_HERE is not set");
      expect((await failed(["db", "migrate"], { DATABASE_URL: "" })).err).toContain("from DATABASE_URL");
    },
    PATIENCE_MS,
  );

  test(
    "looking for a store creates none",
    async () => {
      const away = join(folder, "not-there");
      for (const args of [
        ["db", "migrate"],
        ["db", "backup", join(folder, "none")],
      ]) {
        const { err } = await failed(["--data-dir", away, ...args]);
        expect(err).toContain(`There is no store at ${join(away, "tollgate.sqlite")}`);
      }
      expect(existsSync(away)).toBe(false);
    },
    PATIENCE_MS,
  );
});
