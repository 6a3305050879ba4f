// `npm run build`: one file that needs nothing beside it, run in an empty folder with an empty environment. It
// contains what are separate files in the project (threads, the dashboard, the operator API's reference).
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Browser, PASSWORD, tokenOf } from "../support/browser.ts";
import { testPostgres } from "../support/postgres.ts";

const root = join(import.meta.dir, "../..");
/** What `npm test` has built for all files; a test file run by itself builds its own. */
const given = process.env["TOLLGATE_TEST_PROGRAM"];
const built = given === undefined ? mkdtempSync(join(tmpdir(), "tollgate-built-")) : dirname(given);
const folder = mkdtempSync(join(tmpdir(), "tollgate-alone-"));
const program = join(folder, "tollgate");
/** Only what a shell always has. */
const environment = { HOME: folder, TOLLGATE_LOG_LEVEL: "silent" };

interface Started {
  pid: number;
  banner: string;
  url: string;
  secret: string;
  stop(): Promise<number>;
}

async function serve(env: Record<string, string> = {}, ...flags: string[]): Promise<Started> {
  const process = Bun.spawn([program, "serve", "--port", "0", ...flags], {
    cwd: folder,
    env: { ...environment, ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  let banner = "";
  for await (const bytes of process.stdout) {
    banner += new TextDecoder().decode(bytes);
    if (banner.includes("Ctrl-C")) break;
  }
  return {
    pid: process.pid,
    banner,
    url: /http:\/\/\S+(?=\/v1)/.exec(banner)?.[0] ?? "",
    secret: /gw_sk_\w+/.exec(banner)?.[0] ?? "",
    stop: async () => {
      process.kill("SIGTERM");
      return await process.exited;
    },
  };
}

const run = (...args: string[]): Promise<Ran> => runFrom({ program, cwd: folder }, ...args);

interface Ran {
  code: number;
  out: string;
  err: string;
}

async function runFrom(
  from: { program: string; cwd: string; env?: Record<string, string> },
  ...args: string[]
): Promise<Ran> {
  const child = Bun.spawn([from.program, ...args], {
    cwd: from.cwd,
    env: { ...environment, ...from.env },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { out, err, code };
}

const chat = ({ url, secret }: Started, body: object = {}): Promise<Response> =>
  fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "base-preview-v1", messages: [{ role: "user", content: "hi" }], ...body }),
  });

/** The gateway's own threads, by their system names. */
const threadsNow = (): number =>
  readdirSync(`/proc/${gateway.pid}/task`).filter(
    (task) => readFileSync(`/proc/${gateway.pid}/task/${task}/comm`, "utf8").trim() === "Worker",
  ).length;

let gateway: Started;
beforeAll(async () => {
  if (given === undefined) {
    const build = Bun.spawn([process.execPath, "scripts/build.ts", join(built, "tollgate")], { cwd: root });
    expect(await build.exited).toBe(0);
  }
  copyFileSync(join(built, "tollgate"), program);
  gateway = await serve();
}, 300_000);
afterAll(async () => {
  await gateway.stop();
  for (const path of given === undefined ? [built, folder] : [folder])
    rmSync(path, { recursive: true, force: true });
});

test("beside the file are its checksum, the licences and the bill of materials, nothing else", () => {
  const digest = createHash("sha256")
    .update(readFileSync(join(built, "tollgate")))
    .digest("hex");
  expect(readdirSync(built).toSorted()).toEqual([
    "THIRD-PARTY-NOTICES.txt",
    "tollgate",
    "tollgate.cdx.json",
    "tollgate.sha256",
  ]);
  expect(readFileSync(join(built, "tollgate.sha256"), "utf8")).toBe(`${digest}  tollgate\n`);
  const notices = readFileSync(join(built, "THIRD-PARTY-NOTICES.txt"), "utf8");
  for (const name of ["better-auth", "react", "pg", "@scalar/api-reference"])
    expect(notices).toContain(`\n${name} `);
  expect(notices).not.toContain("\nplaywright-core ");
});

test("it serves a metered completion, counts with its tokenizer, and its ledger is sound", async () => {
  const answer = (await (await chat(gateway)).json()) as {
    gateway: { cost: { customer_charge_usd: number } };
  };
  expect(answer.gateway.cost.customer_charge_usd).toBeGreaterThan(0);
  // Only an exact count admits so long a prompt: by its bytes it would exceed the context window.
  const content = "a long and quite ordinary sentence ".repeat(12_000);
  expect((await chat(gateway, { messages: [{ role: "user", content }], max_tokens: 1 })).status).toBe(200);
  expect(threadsNow()).toBe(2); // one counts admissions, one counts served text; counting would work without them
  expect(await run("ledger", "audit")).toMatchObject({ code: 0, err: "" });
  const [org] = (JSON.parse((await run("org", "list", "--json")).out) as { data: { id: string }[] }).data;
  expect((await run("usage", "--org", org?.id ?? "", "--json")).out).toContain('"requests":2');
});

test("the dashboard and the operator API's reference are inside", async () => {
  const page = await fetch(`${gateway.url}/sign-in`);
  expect(page.headers.get("content-security-policy")).toContain("script-src 'self';");
  const scripts = [...(await page.text()).matchAll(/(?:src|href)="(\/[^"]+\.(?:js|css))"/g)].map(
    ([, path]) => path,
  );
  expect(scripts.length).toBeGreaterThan(1);
  for (const path of [...scripts, "/admin/v1/docs/reference.js"])
    expect((await fetch(gateway.url + path)).status).toBe(200);
  const browser = new Browser(gateway.url);
  const account = { name: "Ada", email: "ada@example.com", password: PASSWORD };
  await browser.app(
    "POST /welcome",
    {},
    { token: tokenOf(/\S+#token=\S+/.exec(gateway.banner)?.[0] ?? null), ...account },
  );
  const { data } = await browser.app("GET /operator/audit"); // read on a separate thread
  expect(data.map(({ action }) => action)).toContain("key.create");
  expect(readdirSync(join(folder, "data"))).not.toContain("dashboard");
});

test("its hints name it as it was called: from its folder, by its path, and by its name if a shell finds it", async () => {
  const hints = async (from: Parameters<typeof runFrom>[0]): Promise<string[]> => {
    const [help, none] = [await runFrom(from, "--help"), await runFrom(from, "org", "list")];
    expect(none.code).toBe(1);
    return `${help.out}${none.err}`.match(/\S*tollgate(?= log)/g) ?? [];
  };
  const elsewhere = mkdtempSync(join(tmpdir(), "tollgate-elsewhere-"));
  const env = { HOME: elsewhere };
  try {
    for (const [from, called] of [
      [{ program: "./tollgate", cwd: folder, env: { ...env, TOLLGATE_DATA_DIR: elsewhere } }, "./tollgate"],
      [{ program, cwd: elsewhere, env }, program],
      [{ program, cwd: elsewhere, env: { ...env, PATH: folder } }, "tollgate"],
      [
        { program, cwd: elsewhere, env: { ...env, TOLLGATE_CALLED_AS: "docker exec t /tollgate" } },
        "/tollgate",
      ],
    ] as const)
      expect({ called, hints: [...new Set(await hints(from))] }).toEqual({ called, hints: [called] });
  } finally {
    rmSync(elsewhere, { recursive: true, force: true });
  }
  expect(gateway.banner).toContain("Operate it with ./tollgate (see ./tollgate --help)");
});

test("when listening on every network it prints an address that can be opened", async () => {
  const wide = await serve({ TOLLGATE_DATA_DIR: mkdtempSync(join(folder, "wide-")) }, "--host", "0.0.0.0");
  try {
    expect(wide.banner).not.toContain("0.0.0.0");
    expect((await fetch(`${wide.url}/readyz`)).status).toBe(200);
  } finally {
    await wide.stop();
  }
});

test("it opens as many upstream connections as ./tollgate does, and does not watch sources", async () => {
  expect((await run("doctor", "--json")).out).toContain("65336");
  expect(await run("dev")).toMatchObject({ code: 1, err: expect.stringContaining("no source to watch") });
});

test("its workers run the same file: two of them on one port and one PostgreSQL", async () => {
  const database = await (await testPostgres()).database();
  const workers = await serve(
    { DATABASE_URL: database.url },
    "--data-dir",
    join(folder, "shared"),
    "--workers",
    "2",
  );
  try {
    expect((await chat(workers)).status).toBe(200);
    expect(await run("ledger", "audit", "--data-dir", join(folder, "shared"))).toMatchObject({
      code: 0,
      err: "",
    });
  } finally {
    expect(await workers.stop()).toBe(0);
    await database.drop();
  }
});
