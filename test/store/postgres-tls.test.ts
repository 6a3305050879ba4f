// A PostgreSQL over TLS, as managed ones want it: every session is encrypted and knows its server, and what fails says what to do.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CERTIFICATE, OTHER_CERTIFICATE } from "../support/certificate.ts";
import { hello } from "../support/gateway.ts";
import { onDatabase, PostgresServer, UNPRIVILEGED } from "../support/postgres.ts";
import { ProcessGateway } from "../support/process-gateway.ts";
import { PROGRAM, runToEnd } from "../support/program.ts";
import { waitFor } from "../support/wait.ts";

const PATIENCE_MS = 120_000;
let folder: string;
let server: PostgresServer;
const file = (name: string): string => join(folder, name);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tollgate-tls-"));
  chmodSync(folder, 0o755);
  identify(CERTIFICATE);
  writeFileSync(file("authority.pem"), CERTIFICATE.cert);
  server = await PostgresServer.start({
    ssl: "on",
    ssl_cert_file: file("cert.pem"),
    ssl_key_file: file("key.pem"),
  });
}, PATIENCE_MS);
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The server's certificate from its next start or `pg_reload_conf()` on. */
function identify({ key, cert }: typeof CERTIFICATE): void {
  for (const [name, text] of [
    ["key.pem", key],
    ["cert.pem", cert],
  ] as const) {
    writeFileSync(file(name), text, { mode: 0o600 });
    if (UNPRIVILEGED.uid !== undefined) chownSync(file(name), UNPRIVILEGED.uid, UNPRIVILEGED.gid);
  }
}

/** A new database, by the name that the certificate has. */
const database = async (): Promise<string> => {
  const { url } = await server.migrated();
  return url.replace("127.0.0.1", "localhost");
};

test.each([
  ["sslmode=require", (): Record<string, string> => ({ NODE_EXTRA_CA_CERTS: file("authority.pem") })],
  ["sslmode=verify-full&sslrootcert=", (): Record<string, string> => ({})],
])(
  "%s: every session is encrypted, and the library says nothing",
  async (mode, env) => {
    const url = await database();
    const address = `${url}?${mode}${mode.endsWith("=") ? file("authority.pem") : ""}`;
    const gateway = await ProcessGateway.start({
      ...env(),
      DATABASE_URL: address,
      TOLLGATE_LOG_LEVEL: "info",
    });
    try {
      const { secret } = await gateway.customer();
      expect((await gateway.chat(secret, hello("plain-1"))).status).toBe(200);
      const sessions = await onDatabase(url, async (client) => {
        const { rows } = await client.query<{ name: string; ssl: boolean }>(
          `SELECT application_name AS name, ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
           WHERE datname = current_database() AND pid <> pg_backend_pid()`,
        );
        return rows;
      });
      expect(sessions.length).toBeGreaterThan(4);
      expect(sessions.filter(({ ssl }) => !ssl)).toEqual([]);
      expect(gateway.log).not.toContain("WARNING");
    } finally {
      await gateway.stop();
    }
  },
  PATIENCE_MS,
);

test.each<[string, string, string, string]>([
  ["an authority that nobody named", "sslmode=require", "is not trusted", "sslrootcert=FILE in DATABASE_URL"],
  [
    "a file that is not there",
    "sslmode=verify-full&sslrootcert=/nowhere/ca.pem",
    "/nowhere/ca.pem",
    "correct sslrootcert",
  ],
])(
  "%s ends the start, and says so",
  async (_, mode, why, next) => {
    const env = { ...process.env, DATABASE_URL: `${await database()}?${mode}` };
    const args = ["serve", "--port", "0", "--data-dir", file("data")];
    const { code, err } = await runToEnd(PROGRAM, args, { cwd: folder, env });
    expect(code).toBe(1);
    expect(err).toContain(why);
    expect(err.toLowerCase()).toContain(next.toLowerCase());
    expect(err).not.toContain("WARNING");
  },
  PATIENCE_MS,
);

test(
  "a server that shows another certificate is away, until it is itself again",
  async () => {
    const url = await database();
    const gateway = await ProcessGateway.start({
      DATABASE_URL: `${url}?sslmode=verify-full&sslrootcert=${file("authority.pem")}`,
    });
    const ready = async (): Promise<boolean> => (await gateway.get("/readyz")).status === 200;
    const becomes = async (certificate: typeof CERTIFICATE): Promise<void> => {
      identify(certificate);
      await onDatabase(url, async (client) => {
        await client.query("SELECT pg_reload_conf()");
        await client.query(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
        );
      });
    };
    try {
      const { secret } = await gateway.customer();
      const calls = gateway.simulator.bill().length;
      await becomes(OTHER_CERTIFICATE);
      await waitFor(async () => !(await ready()), "the gateway to see that its database is another one");
      const refused = await gateway.chat(secret, hello("plain-1"));
      expect([refused.status, JSON.parse(refused.text)]).toMatchObject([
        503,
        { error: { code: "overloaded" } },
      ]);
      expect(gateway.simulator.bill()).toHaveLength(calls);
      // On the pool, whose connections are made anew without the ledger.
      expect(await gateway.admin("GET", "/organizations").catch(String)).toContain("503");
      await becomes(CERTIFICATE);
      await waitFor(ready, "the gateway to come back");
      expect((await gateway.chat(secret, hello("plain-1"))).status).toBe(200);
    } finally {
      await gateway.stop();
    }
  },
  PATIENCE_MS,
);
