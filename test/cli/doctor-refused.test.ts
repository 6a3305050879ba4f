// `doctor` reports what keeps `serve` from starting, in the words of `serve`'s refusal, and makes and changes
// nothing.
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateReleaseKey } from "../../src/releases/release-key.ts";
import { openPeopleSchema } from "../../src/people/postgres-store.ts";
import { connectBare, openPostgresStore } from "../../src/store/postgres.ts";
import { openSqliteStore } from "../../src/store/sqlite.ts";
import { testPostgres, type TestDatabase } from "../support/postgres.ts";
import { PROGRAM } from "../support/program.ts";
import { serveProcess } from "../support/served.ts";

const PATIENCE_MS = 120_000;
/** Another user without privileges. */
const NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
const asRoot = process.getuid?.() === 0 && Bun.which("setpriv") !== null;
const mayMount =
  Bun.which("unshare") !== null &&
  Bun.spawnSync(["unshare", "--mount", "true"], { stderr: "ignore" }).success;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tollgate-doctor-refused-"));
  chmodSync(folder, 0o777);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Terms {
  /** Shared by both commands. */
  args?: string[];
  env?: Record<string, string>;
  through?: string[];
}

interface Finding {
  check: string;
  state: string;
  found: string;
  next: string | null;
}

async function doctor({ args = [], env = {}, through = [] }: Terms): Promise<{
  code: number;
  wrong: Finding[];
  findings: Finding[];
}> {
  const { DATABASE_URL: _, TOLLGATE_DATA_DIR: __, TOLLGATE_URL: ___, ...ours } = process.env;
  const child = Bun.spawn([...through, PROGRAM, "doctor", "--json", ...args], {
    cwd: folder,
    env: { ...ours, PORT: "0", ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  const code = await child.exited;
  if (!out.startsWith("{")) throw new Error(`${out}${err}`);
  const { findings } = JSON.parse(out) as { findings: Finding[] };
  return { code, findings, wrong: findings.filter(({ state }) => state === "wrong") };
}

/** Each file with its size and mode, which a read-only command leaves unchanged. */
const traces = (directory: string): string[] =>
  !existsSync(directory) || !statSync(directory).isDirectory()
    ? []
    : readdirSync(directory, { recursive: true, encoding: "utf8" })
        .toSorted()
        .map((name) => {
          const { size, mode } = statSync(join(directory, name));
          return `${name} ${size} ${mode.toString(8)}`;
        });

/** Runs both commands in the same place: one finding is wrong, and `serve` says the same. */
async function bothRefuse(check: string, words: string | RegExp, terms: Terms): Promise<void> {
  const { args = [], env = {}, through = [] } = terms;
  const place = args[args.indexOf("--data-dir") + 1] ?? "";
  const before = traces(place);
  const { code, wrong } = await doctor(terms);
  expect(traces(place)).toEqual(before);
  const { code: serveCode, stderr } = await serveProcess({
    folder,
    args,
    env: { PORT: "0", ...env },
    through: env["DATABASE_URL"] === undefined ? ["env", "-u", "DATABASE_URL", ...through] : through,
  }).ended;
  expect({ code, serveCode, wrong }).toEqual({
    code: 1,
    serveCode: 1,
    wrong: [{ check, state: "wrong", found: expect.stringMatching(words), next: expect.any(String) }],
  });
  expect(stderr).toContain(wrong[0]?.found ?? "nothing");
  // The remedy comes after a semicolon, or on a line of its own.
  const next = (wrong[0]?.next ?? "").replace(/\.$/, "");
  expect(stderr.toLowerCase()).toContain(next.toLowerCase());
}

const place = (name: string): string => mkdtempSync(join(folder, `${name}-`));
const words = (text: string): RegExp => new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));

/** A directory with a store that a gateway has left. */
function stored(name: string): string {
  const at = place(name);
  openSqliteStore(at).close();
  return at;
}

function changed(at: string, sql: string): string {
  const database = new Database(join(at, "tollgate.sqlite"));
  database.run(sql);
  database.close();
  return at;
}

describe("a data directory", () => {
  const cases: [string, string, () => string][] = [
    [
      "a file is in its place",
      "cannot be written (",
      () => {
        const file = join(folder, "a-file");
        writeFileSync(file, "");
        return file;
      },
    ],
    [
      "a file is on the way to it",
      "cannot be written (",
      () => {
        writeFileSync(join(folder, "on-the-way"), "");
        return join(folder, "on-the-way/data");
      },
    ],
    [
      "its data key is a directory",
      "cannot be read and written (it is a directory)",
      () => {
        const at = place("key-directory");
        mkdirSync(join(at, "data.key"), { mode: 0o700 });
        return at;
      },
    ],
    [
      "what is to be a new store's data key is none",
      "has 45 bytes, but a data key has 32",
      () => {
        const at = place("long-key");
        writeFileSync(join(at, "data.key"), "x".repeat(45), { mode: 0o600 });
        return at;
      },
    ],
    [
      "the data key of its store is missing",
      "does not hold the data key of the database beside it",
      () => {
        const at = stored("keyless");
        rmSync(join(at, "data.key"));
        return at;
      },
    ],
    [
      "it has another key than its store",
      "data.key is not the key that this database was created with",
      () => {
        const at = stored("other-key");
        writeFileSync(join(at, "data.key"), Buffer.alloc(32, 7), { mode: 0o600 });
        return at;
      },
    ],
    [
      "its store is no database",
      "tollgate.sqlite cannot be opened (",
      () => {
        const at = stored("garbage");
        writeFileSync(join(at, "tollgate.sqlite"), "this is no database at all".repeat(500));
        return at;
      },
    ],
    [
      "its store is a directory",
      "tollgate.sqlite cannot be read and written (it is a directory)",
      () => {
        const at = place("store-directory");
        mkdirSync(join(at, "tollgate.sqlite"), { mode: 0o700 });
        return at;
      },
    ],
    [
      "its store is of a newer program",
      "the database has schema 9000",
      () => changed(stored("newer"), "INSERT INTO schema_migration VALUES (9000, 'later', 'x', 0)"),
    ],
    [
      "its store was made by another program's migrations",
      "migration 3 (payments) differs from the one this database was made with",
      () => changed(stored("edited"), "UPDATE schema_migration SET checksum = 'x' WHERE version = 3"),
    ],
    [
      "its store is on its way",
      "this store is being moved to db.example/tollgate",
      () =>
        changed(
          stored("moving"),
          "INSERT INTO schema_migration VALUES (1000000000, 'this store is being moved to db.example/tollgate', 'm', 0)",
        ),
    ],
    [
      "its store was moved",
      "was moved to PostgreSQL",
      () => {
        const at = stored("moved");
        renameSync(join(at, "tollgate.sqlite"), join(at, "tollgate.sqlite.moved"));
        return at;
      },
    ],
    [
      "a restore was interrupted",
      "was interrupted",
      () => {
        const at = stored("restoring");
        cpSync(join(at, "tollgate.sqlite"), join(at, "tollgate.sqlite.restoring"));
        return at;
      },
    ],
    [
      "its file of people is no database",
      "people.sqlite cannot be opened (",
      () => {
        const at = stored("people");
        writeFileSync(join(at, "people.sqlite"), "this is no database at all".repeat(500), { mode: 0o600 });
        return at;
      },
    ],
    [
      "its earlier key of the demo is none",
      "demo-release.private.jwk, the key an earlier version signed the demo models with, cannot be used (",
      () => {
        const at = stored("demo-key");
        writeFileSync(join(at, "demo-release.private.jwk"), "{}", { mode: 0o600 });
        return at;
      },
    ],
  ];
  for (const [name, said, make] of cases)
    test(
      name,
      async () => {
        const check = said.startsWith("demo-release") ? "releases" : "store";
        await bothRefuse(check, words(said), { args: ["--data-dir", make()] });
      },
      PATIENCE_MS,
    );

  test.skipIf(!asRoot)(
    "another user's, and one in which another user began",
    async () => {
      const at = place("roots");
      const args = ["--data-dir", at];
      await bothRefuse("store", words(`the data directory ${at} cannot be written (EACCES`), {
        args,
        through: NOBODY,
      });
      chownSync(at, 65534, 65534);
      for (const [name, check] of [
        ["tollgate.lock", "store"],
        ["data.key", "store"],
        ["people.sqlite", "store"],
        ["demo-release.private.jwk", "releases"],
      ] as const) {
        writeFileSync(join(at, name), "", { mode: 0o600 });
        await bothRefuse(check, /cannot be read( and written)? \(EACCES/, { args, through: NOBODY });
        rmSync(join(at, name));
      }
    },
    PATIENCE_MS,
  );

  test.skipIf(!asRoot)(
    "open to others, and this user may not close it",
    async () => {
      const at = place("open");
      chmodSync(at, 0o777);
      await bothRefuse(
        "store",
        words(`${at} is accessible to other users (mode 777), and that could not be changed`),
        {
          args: ["--data-dir", at],
          through: NOBODY,
        },
      );
    },
    PATIENCE_MS,
  );

  test.skipIf(!mayMount)(
    "mounted read-only, or full",
    async () => {
      const at = place("mounted");
      const mounted = (options: string): string[] => [
        "unshare",
        "--mount",
        "sh",
        "-c",
        `mount -t tmpfs -o ${options} tmpfs "$0" && exec "$@"`,
        at,
      ];
      const args = ["--data-dir", at];
      await bothRefuse("store", words(`the data directory ${at} cannot be written (EROFS`), {
        args,
        through: mounted("ro,mode=700"),
      });
      await bothRefuse("store", words(`the disk of ${at} is full`), {
        args,
        through: mounted("size=8m,mode=700"),
      });
    },
    PATIENCE_MS,
  );

  test(
    "one open to others is closed by the next start, so it prevents no start",
    async () => {
      const at = stored("closes");
      chmodSync(at, 0o755);
      const { code, findings } = await doctor({ args: ["--data-dir", at] });
      expect({ code, store: findings.find(({ check }) => check === "store") }).toEqual({
        code: 0,
        store: {
          check: "store",
          state: "note",
          found: `SQLite in ${at}, which other users can read (mode 755)`,
          next: `The next start restricts it; to do it now: chmod 700 ${at}`,
        },
      });
    },
    PATIENCE_MS,
  );
});

describe("a port", () => {
  const refusedAt = (env: Record<string, string>, said: string, through: string[] = []): Promise<void> =>
    bothRefuse("address", words(said), { args: ["--data-dir", join(folder, "nothing-yet")], env, through });

  test(
    "in use, of no address of this machine, of an unknown name",
    async () => {
      const taken = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("another's") });
      try {
        const port = String(taken.port);
        await refusedAt({ PORT: port }, `Port ${port} of 127.0.0.1 is in use by process ${process.pid} (bun`);
      } finally {
        await taken.stop(true);
      }
      await refusedAt({ HOST: "192.0.2.1" }, "192.0.2.1 is not an address of this machine.");
      await bothRefuse("address", words("The gateway cannot listen on none.invalid, port 0."), {
        args: ["--data-dir", join(folder, "nothing-yet"), "--host", "none.invalid", "--port", "0"],
        env: { HOST: "127.0.0.1" },
      });
    },
    PATIENCE_MS,
  );
});

describe("trusted keys", () => {
  test(
    "not JSON, no key, two of one name",
    async () => {
      const at = place("trust");
      const write = (name: string, key: unknown): string => {
        writeFileSync(join(at, name), typeof key === "string" ? key : JSON.stringify(key));
        return name;
      };
      const named = async (): Promise<object> => ({ ...(await generateReleaseKey()).publicJwk, kid: "prod" });
      const good = write("good.jwk", await named());
      for (const [files, said] of [
        [[write("text.jwk", "not JSON")], "text.jwk is not a key file (JWK): "],
        [[good, write("rsa.jwk", { kty: "RSA" })], "rsa.jwk: This is not a public Ed25519 key"],
        [[good, write("same.jwk", await named())], 'Two different keys are named "prod"'],
      ] as const) {
        writeFileSync(join(at, "tollgate.yaml"), JSON.stringify({ trust: { release_keys: files } }));
        await bothRefuse("releases", words(said), {
          args: ["--config", join(at, "tollgate.yaml"), "--data-dir", join(at, "data")],
        });
      }
    },
    PATIENCE_MS,
  );
});

describe("PostgreSQL", () => {
  let database: TestDatabase;
  const home = (): string => join(folder, "home");
  beforeAll(async () => {
    database = await (await testPostgres()).database();
    await (await openPostgresStore(database.url, home())).close();
  }, PATIENCE_MS);
  afterAll(async () => await database.drop());

  const refusedOn = (said: string, url = database.url, dataDir = home()): Promise<void> =>
    bothRefuse("store", words(said), { args: ["--data-dir", dataDir], env: { DATABASE_URL: url } });

  async function run(...statements: string[]): Promise<void> {
    const client = await connectBare(database.url, "test");
    for (const statement of statements) await client.query(statement);
    await client.end();
  }

  test(
    "unreachable, or without such a database",
    async () => {
      await refusedOn("cannot be reached: ", "postgres://127.0.0.1:1/none");
      const url = new URL(database.url);
      url.pathname = "/no_such_database";
      await refusedOn("no_such_database does not exist", url.href);
    },
    PATIENCE_MS,
  );

  test(
    "with another data key, or without its own; with an invalid data directory",
    async () => {
      const other = place("other-key-of-postgres");
      writeFileSync(join(other, "data.key"), Buffer.alloc(32, 7), { mode: 0o600 });
      await refusedOn(`${other}/data.key is not the data key of this database`, database.url, other);
      const none = join(folder, "not-made-yet");
      await refusedOn(`${none}/data.key is not the data key of this database`, database.url, none);
      rmSync(none, { recursive: true, force: true });
      writeFileSync(join(folder, "file-of-postgres"), "");
      await refusedOn("cannot be written (", database.url, join(folder, "file-of-postgres"));
    },
    PATIENCE_MS,
  );

  test(
    "of a newer program, of another program's migrations, being moved into",
    async () => {
      const insert = (version: number, name: string): string =>
        `INSERT INTO schema_migration (version, name, checksum, applied_at) VALUES (${version}, '${name}', 'x', 0)`;
      await run(insert(9000, "later"));
      await refusedOn("the database has schema 9000");
      await run("DELETE FROM schema_migration WHERE version = 9000");
      await run(insert(1_000_000_000, "a store is being moved into this database, from /srv/data"));
      await refusedOn("a store is being moved into this database, from /srv/data");
      await run("DELETE FROM schema_migration WHERE version = 1000000000");
      await run("UPDATE schema_migration SET checksum = checksum || 'x' WHERE version = 3");
      await refusedOn("migration 3 (payments) differs");
      await run("UPDATE schema_migration SET checksum = rtrim(checksum, 'x') WHERE version = 3");
    },
    PATIENCE_MS,
  );

  test(
    "read-only, by its setting or by the role's rights",
    async () => {
      const name = new URL(database.url).pathname.slice(1);
      await run(`ALTER DATABASE "${name}" SET default_transaction_read_only = on`);
      await refusedOn("is read-only, possibly a standby");
      await run(
        "SET default_transaction_read_only = off",
        `ALTER DATABASE "${name}" RESET default_transaction_read_only`,
      );
      const role = `reader_${name.replaceAll(/\W/g, "")}`.slice(0, 60);
      await run(`CREATE ROLE ${role} LOGIN PASSWORD 'reader'`);
      try {
        const url = new URL(database.url);
        url.username = role;
        url.password = "reader";
        await refusedOn("cannot be changed by the user of DATABASE_URL", url.href);
        // Accounts are in a schema of their own, which this user may not make, but use where it is.
        await run(`GRANT CREATE ON SCHEMA public TO ${role}`);
        await refusedOn("cannot be changed by the user of DATABASE_URL", url.href);
        await run(`CREATE SCHEMA people AUTHORIZATION ${role}`);
        await (await openPeopleSchema(url.href)).close();
      } finally {
        await run(`DROP OWNED BY ${role} CASCADE`, `DROP ROLE ${role}`);
      }
    },
    PATIENCE_MS,
  );
});
