// People while their store takes no writes: a sign-in is told to come back, like a model call, and works when there
// is room again. On a separate disk that is really full, and on a database that was made read-only.
import { afterAll, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { Browser, firstOperator, PASSWORD } from "../support/browser.ts";
import { fillDisk } from "../support/fill-disk.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";
import { SmallDisk } from "../support/small-disk.ts";

const EMAIL = "root@example.com";

const signIn = async (gateway: TestGateway): Promise<[number, unknown]> => {
  const { status, json } = await new Browser(gateway.url).send<{ error?: { code?: string } }>(
    "POST",
    "/auth/sign-in/email",
    { email: EMAIL, password: PASSWORD },
  );
  return [status, json.error?.code];
};

/** Signs in until it fails: earlier writes may leave a little room. */
async function refusal(gateway: TestGateway): Promise<[number, unknown]> {
  for (let tries = 0; tries < 500; tries += 1) {
    const answer = await signIn(gateway);
    if (answer[0] !== 200) return answer;
  }
  throw new Error("there is room without end");
}

const unlimited = (config: { signIn: { perMinute: number } }): void => {
  config.signIn.perMinute = 10_000;
};

const disk = SmallDisk.mount(60);
afterAll(() => disk.release());

// Needs the right to mount a small disk.
test.skipIf(!disk.isMounted)("a full disk", async () => {
  const gateway = await disk.asTmpdir(() => startGateway({ store: "sqlite", configure: unlimited }));
  try {
    const operator = await firstOperator(gateway, EMAIL);
    const hog = join(disk.path, "hog");
    fillDisk(hog);
    expect(await refusal(gateway)).toEqual([503, "overloaded"]);
    expect((await operator.app("GET /session")).person?.email).toBe(EMAIL);
    rmSync(hog);
    expect(await signIn(gateway)).toEqual([200, undefined]);
    fillDisk(hog);
  } finally {
    await gateway.stop(); // orderly, even on a full disk
  }
});

test("a database that was made read-only", async () => {
  let url = "";
  const gateway = await startGateway({
    store: "postgres",
    configure: (config) => {
      unlimited(config);
      url = config.databaseUrl ?? "";
    },
  });
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  const readOnly = async (value: "on" | "off"): Promise<void> => {
    const name = new URL(url).pathname.slice(1);
    await admin.query("SET default_transaction_read_only = off");
    await admin.query(`ALTER DATABASE ${name} SET default_transaction_read_only = ${value}`);
    await admin.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND pid <> pg_backend_pid()",
      [name],
    );
  };
  try {
    await firstOperator(gateway, EMAIL);
    await readOnly("on");
    expect(await refusal(gateway)).toEqual([503, "overloaded"]);
    await readOnly("off");
    let answer = await signIn(gateway);
    while (answer[0] === 503) answer = await signIn(gateway); // earlier connections end one by one
    expect(answer).toEqual([200, undefined]);
  } finally {
    await admin.end();
    await gateway.stop();
  }
}, 120_000);

test("a database that is writable again, through a session that is still read-only", async () => {
  let url = "";
  const gateway = await startGateway({
    store: "postgres",
    configure: (config) => {
      unlimited(config);
      url = config.databaseUrl ?? "";
    },
  });
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  const name = new URL(url).pathname.slice(1);
  const readOnly = (value: "on" | "off") =>
    admin.query(`ALTER DATABASE ${name} SET default_transaction_read_only = ${value}`);
  const endSessions = () =>
    admin.query(
      "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = $1 AND application_name = 'tollgate people'",
      [name],
    );
  try {
    await firstOperator(gateway, EMAIL);
    await admin.query("SET default_transaction_read_only = off");
    await readOnly("on");
    await endSessions();
    await signIn(gateway); // in a new session, which stays read-only
    await readOnly("off");
    expect(await signIn(gateway)).toEqual([503, "overloaded"]);
    expect(await signIn(gateway)).toEqual([200, undefined]);
  } finally {
    await admin.end();
    await gateway.stop();
  }
}, 120_000);
