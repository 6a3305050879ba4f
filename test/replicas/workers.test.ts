// `./tollgate serve --workers 3`: three processes on one port and one database, as one gateway.
import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { lockDirectory } from "../../src/store/directory-lock.ts";
import { Browser, PASSWORD, tokenOf } from "../support/browser.ts";
import { testPostgres } from "../support/postgres.ts";
import { reads, waitFor } from "../support/wait.ts";
import { PROGRAM } from "../support/program.ts";

/** `serve` with so many workers on a database of its own. */
async function started(count: number) {
  const database = await (await testPostgres()).database();
  const folder = mkdtempSync(join(tmpdir(), "tollgate-workers-"));
  const admin = new pg.Client({ connectionString: database.url });
  await admin.connect();
  const serve = Bun.spawn([PROGRAM, "serve", "--workers", `${count}`, "--port", "0"], {
    cwd: folder,
    env: { ...process.env, DATABASE_URL: database.url, TOLLGATE_LOG_LEVEL: "silent" },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  });
  return {
    serve,
    admin,
    folder,
    /** Those that have a lease and have not given it back. */
    workers: async (): Promise<number[]> => {
      const { rows } = await admin.query<{ pid: number }>(
        "SELECT split_part(name, ' ', 2)::int AS pid FROM instance WHERE lease_until > 0",
      );
      return rows.map(({ pid }) => pid);
    },
    end: async (signal: NodeJS.Signals): Promise<void> => {
      serve.kill(signal);
      await serve.exited;
      await admin.end();
      await database.drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

test("three workers on one port: all serve, one that dies is replaced, SIGTERM ends them all", async () => {
  const { serve, admin, folder, workers, end } = await started(3);
  try {
    const { baseUrl, key, link } = await banner(serve.stdout);
    while ((await workers()).length < 3) await Bun.sleep(50);
    const ask = async (): Promise<number> => {
      const response = await fetch(`${baseUrl}/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json", connection: "close" },
        body: JSON.stringify({ model: "base-preview-v1", messages: [{ role: "user", content: "Hello" }] }),
      });
      await response.text();
      return response.status;
    };
    const serving = async (): Promise<number> => {
      expect(new Set(await Promise.all(Array.from({ length: 40 }, ask)))).toEqual(new Set([200]));
      const { rows } = await admin.query<{ epochs: string }>(
        "SELECT count(DISTINCT epoch)::text AS epochs FROM request",
      );
      return Number(rows[0]?.epochs);
    };
    await reads(serving, 3); // a lease comes before listening on the port

    const browser = new Browser(new URL(baseUrl).origin);
    const account = { name: "Ada", email: "ada@example.com", password: PASSWORD };
    await browser.app("POST /welcome", {}, { token: tokenOf(link), ...account });
    const seen = await Promise.all(Array.from({ length: 20 }, () => browser.app("GET /session")));
    expect(new Set(seen.map(({ person }) => person?.name))).toEqual(new Set(["Ada"]));

    const [doomed = 0] = await workers();
    process.kill(doomed, "SIGKILL");
    while ((await workers()).filter((pid) => pid !== doomed).length < 3) await Bun.sleep(50);
    expect(await ask()).toBe(200);
    const { url, token } = JSON.parse(readFileSync(join(folder, "data/operator.json"), "utf8")) as Record<
      string,
      string
    >;
    const audit = await fetch(`${url}/admin/v1/ledger/audit`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(await audit.json()).toMatchObject({ ok: true });

    const pids = (await workers()).filter((pid) => pid !== doomed);
    serve.kill("SIGTERM");
    expect(await serve.exited).toBe(0);
    expect(pids.filter(isRunning)).toEqual([]);
  } finally {
    await end("SIGTERM");
  }
}, 240_000);

test("if the first of them dies another one takes the directory: the command line finds it, and no key is left behind", async () => {
  const { serve, admin, folder, workers, end } = await started(2);
  const found = (): { id: string; url: string; token: string } =>
    JSON.parse(readFileSync(join(folder, "data/operator.json"), "utf8"));
  const asked = async ({ url, token }: { url: string; token: string }): Promise<number> =>
    (await fetch(`${url}/admin/v1/organizations`, { headers: { authorization: `Bearer ${token}` } })).status;
  try {
    await banner(serve.stdout);
    while ((await workers()).length < 2) await Bun.sleep(50);
    const before = found();
    const { rows } = await admin.query<{ pid: number }>(
      "SELECT split_part(name, ' ', 2)::int AS pid FROM instance ORDER BY epoch LIMIT 1",
    );
    process.kill(rows[0]?.pid ?? 0, "SIGKILL");
    await waitFor(async () => found().id !== before.id, "another worker's file");
    expect(() => lockDirectory(join(folder, "data"), "operator")).toThrow("in use");
    await reads(() => asked(found()), 200);
    await reads(() => asked(before), 401);
    serve.kill("SIGTERM");
    await serve.exited;
    const left = "SELECT 1 FROM management_key WHERE name = 'operator.json' AND revoked_at IS NULL";
    expect((await admin.query(left)).rowCount).toBe(0);
    lockDirectory(join(folder, "data"), "operator").release();
  } finally {
    await end("SIGTERM");
  }
}, 240_000);

test("workers whose parent was killed end by themselves, and what they answer is answered to its end", async () => {
  const { serve, workers, end } = await started(2);
  let pids: number[] = [];
  try {
    const { baseUrl, key } = await banner(serve.stdout);
    while ((pids = await workers()).length < 2) await Bun.sleep(50);
    const response = await fetch(`${baseUrl}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({
        model: "base-preview-v1",
        messages: [{ role: "user", content: "Hello" }],
        stream: true,
      }),
    });
    serve.kill("SIGKILL");
    await serve.exited;
    expect(await response.text()).toEndWith("data: [DONE]\n\n");
    await reads(async () => pids.filter(isRunning), []);
    expect(await workers()).toEqual([]); // each gave its lease back
  } finally {
    for (const pid of pids.filter(isRunning)) process.kill(pid, "SIGKILL");
    await end("SIGKILL");
  }
}, 240_000);

test("the embedded store belongs to one process: more workers are refused", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-workers-"));
  const { DATABASE_URL: _, ...env } = process.env;
  const refused = Bun.spawn([PROGRAM, "serve", "--workers", "2"], {
    cwd: folder,
    env,
    stderr: "pipe",
  });
  expect(await new Response(refused.stderr).text()).toContain("Set DATABASE_URL");
  expect(await refused.exited).toBe(1);
  rmSync(folder, { recursive: true, force: true });
});

interface Banner {
  baseUrl: string;
  key: string;
  link: string;
}

async function banner(output: ReadableStream<Uint8Array>): Promise<Banner> {
  let text = "";
  for await (const bytes of output) {
    text += Buffer.from(bytes).toString();
    const found = (words: string): string | undefined => new RegExp(`${words}\\s+(\\S+)`).exec(text)?.[1];
    const [baseUrl, key, link] = [found("Base URL"), found("Demo key"), found("Sign in")];
    if (baseUrl !== undefined && key !== undefined && link !== undefined && text.includes("Ctrl-C"))
      return { baseUrl, key, link };
  }
  throw new Error(`it ended before it was ready: ${text}`);
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
