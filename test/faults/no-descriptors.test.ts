// A gateway without a free file descriptor for another connection fails on its own account: no provider is blamed for
// it, no route closes, and callers are told to come back.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { chmodSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import { join } from "node:path";
import { Kept } from "../support/kept.ts";
import { PROGRAM } from "../support/program.ts";
import { ProcessGateway } from "../support/process-gateway.ts";
import { openSocket } from "../support/raw.ts";
import { waitFor } from "../support/wait.ts";

const DESCRIPTORS = 64;
/** More than close a route. */
const CALLS = 8;
const SLOW = { tokens_per_second: 20, completion_tokens: 100 };
const body = { model: "plain-1", messages: [{ role: "user", content: "hello" }] };
const CHAT = "POST /v1/chat/completions";

let gateway: ProcessGateway;
let secret: string;
let idle: Socket[] = [];

beforeEach(async () => {
  gateway = await ProcessGateway.start();
  ({ secret } = await gateway.customer());
});
afterEach(async () => {
  for (const socket of idle) socket.destroy();
  idle = [];
  await gateway.stop();
});

/**
 * Restarts it with few descriptors, as a container or a service may have them; its provider is at this host name, and
 * contacted only by calls.
 */
async function runLimited(host: string): Promise<void> {
  await gateway.kill("SIGTERM");
  const settings = join(gateway.folder, "tollgate.yaml");
  const own = `$1${host}$2, health: { probe: null } }`;
  writeFileSync(settings, readFileSync(settings, "utf8").replace(/(http:..)127.0.0.1(.*) }$/m, own));
  gateway.program = join(gateway.folder, "limited");
  writeFileSync(gateway.program, `#!/bin/sh\nulimit -n ${DESCRIPTORS}\nexec '${PROGRAM}' "$@"\n`);
  chmodSync(gateway.program, 0o755);
  await gateway.run({ TOLLGATE_LOG_LEVEL: "info" });
}

const taken = (): number => readdirSync(`/proc/${gateway.pid}/fd`).length;

/** Uses up the gateway's remaining descriptors, by connections that send nothing. */
async function takeAll(connections = DESCRIPTORS): Promise<void> {
  for (let n = 0; n < connections; n += 1) idle.push(openSocket(gateway.address));
  await waitFor(async () => taken() >= DESCRIPTORS, "the last descriptor to be taken");
}

async function giveBack(): Promise<void> {
  for (const socket of idle) socket.destroy();
  idle = [];
  await waitFor(async () => taken() < DESCRIPTORS / 2, "descriptors to be free again");
}

/** On one connection, which the gateway has accepted already. */
async function client(): Promise<{ ask(this: void, asked?: object): void; kept: Kept }> {
  const kept = new Kept(gateway.address);
  kept.ask("GET /healthz");
  await kept.answered();
  return { kept, ask: (asked = body) => kept.ask(CHAT, asked, `Authorization: Bearer ${secret}`) };
}

/** More calls than close a route, in sequence; each one's status, code and advice. */
async function refusals(): Promise<void> {
  const { kept, ask } = await client();
  await takeAll();
  for (let n = 1; n <= CALLS; n += 1) {
    ask();
    const answer = (await kept.answered(n + 1)).split("HTTP/1.1 ").at(-1) ?? "";
    expect(answer).toMatch(/^503 [^]*"code":"overloaded"/);
    expect(answer).toMatch(/^x-should-retry: true\r$/im);
    expect(answer).toMatch(/^retry-after: 1\r$/im);
  }
  await giveBack();
  expect((await gateway.chat(secret, body)).status).toBe(200);
  await waitFor(
    async () => gateway.log.includes("no resources left for new connections"),
    "its line in the log",
  );
  expect(gateway.log.match(/no resources left for new connections/g)).toHaveLength(1);
}

const HOSTS = ["127.0.0.1", "localhost"];

test.each(HOSTS)(
  "calls to %s that no descriptor is left for are 503 and close no route",
  async (host) => {
    await runLimited(host);
    gateway.simulator.behave({ behaviour: SLOW, calls: 1 });
    const stream = await client();
    stream.ask({ ...body, stream: true }); // the provider has just answered, and its connection is in use
    await waitFor(async () => stream.kept.text.includes("data:"), "the stream's first words");
    await refusals();
    await waitFor(async () => stream.kept.text.includes("[DONE]"), "the stream's end");
  },
  120_000,
);

test.each(HOSTS)(
  "so are those to %s that are the first",
  async (host) => {
    await runLimited(host);
    await refusals();
  },
  120_000,
);

test("no more calls run concurrently than there are descriptors for; the others are told to come back", async () => {
  await runLimited("127.0.0.1");
  gateway.simulator.behave({ behaviour: SLOW, calls: DESCRIPTORS });
  const streams = Array.from({ length: DESCRIPTORS }, () =>
    gateway.listen(secret, { ...body, stream: true }),
  );
  const ended = await Promise.all(streams.map((stream) => stream.ended));
  const served = ended.filter(({ status }) => status === 200);
  expect(served.length).toBeGreaterThan(1);
  expect(served.length).toBeLessThanOrEqual((DESCRIPTORS - 48) / 2);
  for (const { text } of served) expect(text).toContain("[DONE]");
  for (const { status, text } of ended.filter((one) => !served.includes(one)))
    expect([status, text]).toEqual([503, expect.stringContaining('"code":"overloaded"')]);
  expect(gateway.simulator.bill()).toHaveLength(served.length);
  expect(gateway.log).toContain("fewer calls than limits.max_concurrent can run concurrently");
}, 120_000);

test("strangers who take every descriptor: the log says it once, readiness tells it, the store keeps working, and it ends with them", async () => {
  await runLimited("127.0.0.1");
  const { kept } = await client();
  const { token } = JSON.parse(readFileSync(join(gateway.folder, "data/operator.json"), "utf8")) as {
    token: string;
  };
  let answers = 1;
  const asked = async (target: string, sent: object | null = null): Promise<string> => {
    kept.ask(target, sent, `Authorization: Bearer ${token}`);
    answers += 1;
    return (await kept.answered(answers)).split("HTTP/1.1 ").at(-1) ?? "";
  };
  const made = (name: string) => asked("POST /admin/v1/organizations", { name });
  const lines = (words: string): number => gateway.log.split(words).length - 1;
  expect(await made("Made before")).toStartWith("201"); // in a checkout the first one loads its modules from files
  await takeAll(4 * DESCRIPTORS); // silent ones are closed after seconds: others wait for their places
  await waitFor(async () => lines("new connections wait unanswered") > 0, "the line in the log");
  expect(await asked("GET /readyz")).toMatch(/^503 [^]*no file descriptor is left/);
  expect(await made("Made meanwhile")).toStartWith("201");
  await giveBack();
  await waitFor(async () => lines("new connections are accepted again") > 0, "its end in the log");
  expect(lines("new connections wait unanswered")).toBe(1);
  expect(await asked("GET /readyz")).toStartWith("200");
  expect((await gateway.chat(secret, body)).status).toBe(200);
}, 120_000);
