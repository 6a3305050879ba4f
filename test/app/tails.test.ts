// Live tails over HTTP: one person's pages cannot block the others', and a closed page frees its place.
import { afterAll, beforeAll, expect, setSystemTime, test } from "bun:test";
import { type Browser, firstOperator, newMember } from "../support/browser.ts";
import { type Customer, hello, startGateway, type TestGateway } from "../support/gateway.ts";
import { PLAIN } from "../support/models.ts";
import { openSocket } from "../support/raw.ts";
import { DAY_MS, waitFor } from "../support/wait.ts";

let gateway: TestGateway;
let root: Browser;
beforeAll(async () => {
  gateway = await startGateway({ configure: ({ signIn }) => (signIn.perMinute = 1_000) });
  root = await firstOperator(gateway);
});
afterAll(() => gateway.stop());

const organization = async (name: string): Promise<{ org: string; viewer: Browser }> => {
  const { id: org } = await root.app("POST /operator/organizations", {}, { name });
  const viewer = await newMember(root, gateway, { org, role: "viewer", email: `${name}@example.com` });
  return { org, viewer };
};

interface Page {
  status: number;
  code: string | null;
  retryAfter: string | null;
  close(): void;
}

async function follow(browser: Browser, org: string): Promise<Page> {
  const leaving = new AbortController();
  const response = await fetch(`${gateway.url}/app/v1/orgs/${org}/activity/tail`, {
    headers: { cookie: browser.cookie },
    signal: leaving.signal,
  });
  const refused = response.status === 200 ? null : ((await response.json()) as { error: { code: string } });
  return {
    status: response.status,
    code: refused?.error.code ?? null,
    retryAfter: response.headers.get("retry-after"),
    close: () => leaving.abort(),
  };
}

test("four of one viewer's hundred pages are followed, and everyone else is served", async () => {
  const { org, viewer } = await organization("greedy");
  const colleague = await newMember(root, gateway, { org, role: "viewer", email: "colleague@example.com" });
  const other = await organization("other");
  const pages = await Promise.all(Array.from({ length: 100 }, () => follow(viewer, org)));
  const open = pages.filter(({ status }) => status === 200);
  expect(open).toHaveLength(4);
  const refused = pages.filter(({ status }) => status !== 200);
  expect(new Set(refused.map(({ status, code, retryAfter }) => `${status} ${code} ${retryAfter}`))).toEqual(
    new Set(["429 rate_limit_exceeded 10"]),
  );
  const others = [await follow(colleague, org), await follow(other.viewer, other.org)];
  expect(others.map(({ status }) => status)).toEqual([200, 200]);
  for (const page of [...open, ...others]) page.close();
  await waitFor(async () => {
    const again = await follow(viewer, org);
    again.close();
    return again.status === 200;
  }, "a place of a page that was closed");
});

/** A tail with everything it has sent so far. */
async function tailOf(browser: Browser, org: string): Promise<{ text: string; ended: boolean }> {
  const tail = { text: "", ended: false };
  const { body } = await fetch(`${gateway.url}/app/v1/orgs/${org}/activity/tail`, {
    headers: { cookie: browser.cookie },
  });
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const piece of body ?? []) tail.text += decoder.decode(piece, { stream: true });
  };
  const end = (): boolean => (tail.ended = true);
  void read().then(end, end); // the last ones break off when their gateway stops
  return tail;
}

/** States told of a request, in order. */
const statesOf = ({ text }: { text: string }, id: string): string[] =>
  text
    .split("\n\n")
    .filter((event) => event.startsWith(`event: row\nid: ${id}\n`))
    .map((event) => (JSON.parse(event.split("\ndata: ")[1] ?? "") as { state: string }).state);

/** More than a tail looks at in one second. */
const OVERTAKING = 220;

test("a stream that hundreds of later requests overtake is still told when it ends", async () => {
  const { org, viewer } = await organization("overtaken");
  const key = await paying(org);
  const tail = await tailOf(viewer, org);
  gateway.simulator.behave({ behaviour: { until_well: true }, calls: 1 });
  const slow = gateway.chat(key, hello(PLAIN.model));
  await waitFor(async () => tail.text.includes('"state":"running"'), "the slow one to be told");
  const [, id = ""] = /id: (req_\w+)/.exec(tail.text) ?? [];
  await many(key, OVERTAKING);
  expect(statesOf(tail, id)).toEqual(["running"]);
  gateway.simulator.behaveWell();
  expect((await slow).status).toBe(200);
  await waitFor(async () => statesOf(tail, id).length > 1, "its end to be told");
  expect(statesOf(tail, id)).toEqual(["running", "settled"]);
}, 120_000);

async function paying(org: string): Promise<Customer> {
  await gateway.admin("POST", "/credits", { org, usd: "5", kind: "purchase" });
  return await gateway.key(org);
}

test.each([
  [
    "is removed",
    (owner: Browser, org: string, member: string) =>
      owner.app("DELETE /orgs/{org}/team/{member}", { org, member }),
  ],
  [
    "signs out",
    (_: Browser, _org: string, _member: string, viewer: Browser) => viewer.send("POST", "/auth/sign-out"),
  ],
])(
  "whoever %s is told no request that comes after it",
  async (what, leave) => {
    const name = what.replace(" ", "-");
    const { org, viewer } = await organization(name);
    const key = await paying(org);
    const owner = await newMember(root, gateway, { org, role: "owner", email: `${name}-owner@example.com` });
    const { person } = await viewer.app("GET /session");
    const [tail, others] = [await tailOf(viewer, org), await tailOf(owner, org)];
    await gateway.chat(key, hello(PLAIN.model));
    await waitFor(async () => tail.text.includes('"state":"settled"'), "the first row");
    await leave(owner, org, person?.id ?? "", viewer);
    const before = tail.text;
    const { headers } = await gateway.chat(key, hello(PLAIN.model));
    const id = headers.get("x-request-id") ?? "";
    await waitFor(async () => statesOf(others, id).length > 0, "a colleague to be told");
    await waitFor(async () => tail.ended, "the tail to end");
    expect(tail.text).toBe(before);
  },
  120_000,
);

/** So many small calls, some at a time. */
async function many(key: Customer, calls: number, at = gateway): Promise<void> {
  let left = calls;
  const lane = async (): Promise<void> => {
    for (; left > 0; ) {
      left -= 1;
      await at.chat(key, { ...hello(PLAIN.model), max_tokens: 1 });
    }
  };
  await Promise.all(Array.from({ length: 8 }, lane));
}

test("a removed member is sent nothing more, even if the clock is put back at that moment", async () => {
  const { org, viewer } = await organization("set-back");
  const owner = await newMember(root, gateway, { org, role: "owner", email: "set-back-owner@example.com" });
  const tail = await fetch(`${gateway.url}/app/v1/orgs/${org}/activity/tail`, {
    headers: { cookie: viewer.cookie },
    signal: AbortSignal.timeout(60_000),
  });
  const { person } = await viewer.app("GET /session");
  await owner.app("DELETE /orgs/{org}/team/{member}", { org, member: person?.id ?? "" });
  setSystemTime(new Date(Date.now() - DAY_MS));
  try {
    expect(await tail.text()).toStartWith("retry:");
  } finally {
    setSystemTime();
  }
}, 120_000);

test("an open page does not hold up a stop", async () => {
  const { org, viewer } = await organization("stopped");
  const tail = await tailOf(viewer, org);
  const toldAt = performance.now();
  await gateway.restart();
  expect(performance.now() - toldAt).toBeLessThan(10_000);
  expect(tail).toEqual({ text: "retry: 2000\n\n", ended: true });
}, 120_000);

test("a stop does not wait for a tail whose reader takes nothing", async () => {
  const stopping = await startGateway({ configure: ({ limits }) => (limits.stopGraceMs = 100_000) });
  const operator = await firstOperator(stopping);
  const key = await stopping.customer();
  // Every row carries the name of its key: the rows are more than the sockets hold.
  await stopping.tamper("UPDATE api_key SET name = ?1 WHERE key_id = ?2", "x".repeat(500_000), key.keyId);
  const path = `/app/v1/orgs/${key.organizationId}/activity/tail`;
  const deaf = openSocket(stopping.url).pause();
  deaf.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncookie: ${operator.cookie}\r\n\r\n`);
  const reader = await fetch(stopping.url + path, { headers: { cookie: operator.cookie } });
  let read = 0;
  const reading = (async () => {
    for await (const piece of reader.body ?? []) read += piece.byteLength;
  })();
  await many(key, 30, stopping);
  await waitFor(async () => read > 12_000_000, "both tails to be told of more than a socket holds");
  const toldAtMs = performance.now();
  await stopping.stop();
  expect(performance.now() - toldAtMs).toBeLessThan(25_000); // the deaf one would be cut after most of a minute
  await reading;
  deaf.destroy();
}, 240_000);
