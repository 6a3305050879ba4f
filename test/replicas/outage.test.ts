// The database goes away under a gateway in use by clients, the operator, and people at the dashboard. All of them
// are told to come back, and the log has two lines about it, not one for each of them (wire.md §4.1, money.md §12).
// Each test has its own server and mostly waits for it, so they run concurrently.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Browser, firstOperator } from "../support/browser.ts";
import { type Customer, hello, startGateway, type TestGateway } from "../support/gateway.ts";
import { ProcessGateway, untilParts } from "../support/process-gateway.ts";
import { PostgresServer } from "../support/postgres.ts";
import { waitFor } from "../support/wait.ts";
import { createLog } from "../../src/lib/log.ts";

interface Line {
  level: number;
  msg?: string;
  err?: { message: string; stack: string };
}

let server: PostgresServer;
let gateway: TestGateway;
let customer: Customer;
let person: Browser;
const logged: Line[] = [];
beforeAll(async () => {
  server = await PostgresServer.start();
  const { url } = await server.migrated();
  gateway = await startGateway({
    log: createLog("info", { write: (line) => logged.push(JSON.parse(line) as Line) }),
    configure: (config) => {
      config.databaseUrl = url;
    },
  });
  customer = await gateway.customer();
  person = await firstOperator(gateway);
}, 240_000);
afterAll(async () => {
  await gateway.stop();
  await server.stop();
});

/** Lines that are not about one request. */
const told = (): Line[] => logged.filter(({ msg, level }) => msg !== undefined || level > 30);

const ready = async (): Promise<boolean> => (await fetch(`${gateway.url}/readyz`)).status === 200;

interface Answered {
  status: number;
  headers: Headers;
  text: string;
}

/** One call to every kind of endpoint that uses the store. */
function everybody(): Record<string, () => Promise<Answered>> {
  const { organizationId: org } = customer;
  const key = { "idempotency-key": `outage-${crypto.randomUUID()}` };
  const v1 = (path: string) => (): Promise<Answered> => gateway.get(customer, `/v1${path}`);
  const admin = (method: string, path: string, body?: unknown) => (): Promise<Answered> =>
    gateway.admin(method, path, body);
  const app = (path: string) => (): Promise<Answered> => person.send("GET", `/app/v1${path}`);
  return {
    "a completion": () => gateway.chat(customer, hello()),
    "a keyed completion": () => gateway.chat(customer, hello(), key),
    "a stream": () => gateway.stream(customer, hello()),
    models: v1("/models"),
    key: v1("/key"),
    credits: v1("/credits"),
    generation: v1("/generation?id=req_000000000000000000000000"),
    receipt: v1("/receipts/req_000000000000000000000000"),
    "the operator's list": admin("GET", "/organizations"),
    "the operator's credit": admin("POST", "/credits", { org, usd: "1", kind: "grant" }),
    "the operator's audit": admin("GET", "/ledger/audit"),
    session: app("/session"),
    profile: app("/profile"),
    overview: app(`/orgs/${org}/overview`),
    activity: app(`/orgs/${org}/activity`),
    billing: app(`/orgs/${org}/billing`),
    "all organizations": app("/operator/organizations"),
    "a sign-in": () =>
      person.send("POST", "/auth/sign-in/email", { email: "root@example.com", password: "wrong wrong" }),
  };
}

test.concurrent("while the database is away everybody is told to come back, and the log says once that it went and once that it is back", async () => {
  const before = await Promise.all(
    Object.entries(everybody()).map(async ([who, ask]) => [who, (await ask()).status]),
  );
  expect(before.filter(([, status]) => status === 503 || status === 500)).toEqual([]);
  gateway.simulator.behave({ behaviour: { tokens_per_second: 30, completion_tokens: 200 } });
  const running = [
    ...[1, 2, 3].map(() => gateway.stream(customer, hello())),
    ...[1, 2, 3].map((n) => gateway.stream(customer, hello(), { "idempotency-key": `runs-on-${n}` })),
  ];
  const atWork = () => gateway.simulator.bill().filter(({ outcome }) => outcome === "running").length;
  await waitFor(async () => atWork() === running.length, "the streams");
  expect(told()).toEqual([]);
  await server.crash();
  const answered: [string, number, string | null, boolean][] = [];
  for (let round = 0; round < 3; round += 1) {
    await Promise.all(
      Object.entries(everybody()).map(async ([who, ask]) => {
        const { status, headers, text } = await ask();
        answered.push([who, status, headers.get("retry-after"), text.includes('"overloaded"')]);
      }),
    );
    await Bun.sleep(1200); // the background jobs meet it, too
  }
  const others = answered.filter(([, status, after, code]) => status !== 503 || after !== "1" || !code);
  // What needs no store may be answered; nothing may be a bug.
  expect(others.filter(([, status]) => status >= 400)).toEqual([]);
  await server.begin();
  await waitFor(ready, "it to be ready again");
  const ended = await Promise.all(running);
  expect(ended.map(({ status, events }) => [status, events.done])).toEqual(ended.map(() => [200, true]));
  await waitFor(async () => told().length > 1, "the word that it is back");
  await Bun.sleep(1500);
  expect(told().map(({ level, msg, err }) => ({ level, msg, err: err?.stack }))).toMatchObject([
    { level: 50, msg: expect.stringContaining("the store is unavailable") },
    { level: 30, msg: expect.stringContaining("the store is available again") },
  ]);
  gateway.simulator.behaveWell();
  await gateway.assertSound();
}, 240_000);

test.concurrent("a gateway that is told to stop while the database is away ends, and the next start settles what it delivered", async () => {
  const server = await PostgresServer.start();
  const { url } = await server.migrated();
  const process = await ProcessGateway.start({ DATABASE_URL: url }, "limits: { stop_grace_ms: 500 }");
  try {
    const { organizationId, secret } = await process.customer();
    const behaviour = { tokens_per_second: 20, completion_tokens: 1200 };
    await fetch(`${process.simulator.url}/_sim`, { method: "POST", body: JSON.stringify({ behaviour }) });
    const body = { ...hello(), stream: true };
    const cut = [
      process.listen(secret, body),
      process.listen(secret, body, { "idempotency-key": "stops-away" }),
    ];
    await untilParts(cut, 12);
    await server.crash();
    const asked = performance.now();
    await process.kill("SIGTERM");
    expect([process.exitCode, performance.now() - asked < 20_000]).toEqual([0, true]);
    const delivered = (await Promise.all(cut.map(({ ended }) => ended))).map(
      ({ text }) => text.split("\n\n").length - 2,
    );
    await server.begin();
    await process.run({ DATABASE_URL: url });
    const balance = await process.admin<Record<string, string>>("GET", `/credits?org=${organizationId}`);
    expect(balance["held_usd"]).toBe("0.000000000");
    expect(delivered.every((parts) => parts > 10)).toBe(true);
    // Two dollars per million: what both clients got is charged.
    const parts = delivered.reduce((sum, count) => sum + count, 0);
    expect(Number(balance["spent_usd"])).toBeGreaterThanOrEqual(parts * 0.000002);
    expect(await process.admin("GET", "/ledger/audit")).toMatchObject({ ok: true });
  } finally {
    await process.stop();
    await server.stop();
  }
}, 240_000);
