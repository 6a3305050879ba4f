// Alert channels on the command line. `channels test` reports the outcome: it waits for the first attempt, and exits with 0 only if
// the receiver accepted it.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { startReceiver } from "../alerts/receiver.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";
import { PROGRAM, type Ran, runToEnd } from "../support/program.ts";

setDefaultTimeout(60_000);

let gateway: TestGateway;
let org: string;
beforeAll(async () => {
  gateway = await startGateway({
    store: "sqlite",
    configure: (config) => (config.alerts.privateTargets = true),
  });
  org = (await gateway.customer()).organizationId;
});
afterAll(() => gateway.stop());

const run = (...args: string[]): Promise<Ran> =>
  runToEnd(PROGRAM, ["--data-dir", gateway.dataDir, ...args, "--org", org], { cwd: gateway.dataDir });
async function channel(url: string): Promise<string> {
  const { out } = await run("channels", "add", "--name", "Ops", "--webhook", url, "--json");
  return (JSON.parse(out) as { id: string }).id;
}

test("a channel is added, listed and removed; its secret is shown once", async () => {
  const added = await run("channels", "add", "--name", "Pager", "--webhook", "https://hooks.example.com/x");
  expect(added.out).toContain("whsec_");
  expect(added.out).toContain("Keep the secret now: it is not shown again.");
  const id = /chn_\w+/.exec(added.out)?.[0] ?? "";
  const listed = await run("channels", "list");
  expect(listed.out).toMatch(new RegExp(`${id} +webhook +Pager +https://hooks`));
  expect(listed.out).not.toContain("whsec_");
  expect((await run("channels", "remove", id)).code).toBe(0);
  expect((await run("channels", "list")).out).not.toContain(id);
});

test("what is refused says what to do next", async () => {
  const nowhere = await run("channels", "add", "--name", "x");
  expect([nowhere.code, nowhere.err]).toEqual([
    2,
    expect.stringContaining("Give --webhook URL or --mail ADDRESS."),
  ]);
  const unknown = await run("channels", "test", "chn_x");
  expect([unknown.code, unknown.out, unknown.err]).toEqual([
    1,
    "",
    expect.stringContaining("./tollgate channels list --org ORG"),
  ]);
});

test.each([
  [204, 0, "delivered", "It arrived: its receiver answered 204."],
  [410, 1, "failed", "It did not arrive and is not retried: It answered 410."],
  [500, 1, "waiting", "It did not arrive: It answered 500. It is tried again at "],
] as const)(
  "a test of a webhook that answers %d waits for it, ends with %d and says why",
  async (status, code, state, words) => {
    const receiver = startReceiver();
    receiver.answers = status;
    const id = await channel(receiver.url);
    const tested = await run("channels", "test", id);
    expect([tested.code, tested.err]).toEqual([code, ""]);
    expect(tested.out).toMatch(new RegExp(`${id} +test +${state} +1 `));
    expect(tested.out).toContain(words);
    expect(receiver.arrived).toHaveLength(1);
    await run("channels", "remove", id, "--yes");
    await receiver.stop();
  },
);

test("a test of a webhook that meets nobody says so; one of the dashboard is always delivered", async () => {
  const nobody = await run("channels", "test", await channel("http://127.0.0.1:9/hook"));
  expect([nobody.code, nobody.out]).toEqual([1, expect.stringMatching(/waiting +1 .*ECONNREFUSED/)]);
  const dashboard = await run("channels", "test", "dashboard");
  expect([dashboard.code, dashboard.out]).toEqual([0, expect.stringMatching(/dashboard +test +delivered/)]);
  expect((await run("alerts", "deliveries")).out).toMatch(/dashboard +test +delivered/);
});

test("with --json a test is the delivery as it is then", async () => {
  const receiver = startReceiver();
  const id = await channel(receiver.url);
  const { code, out } = await run("channels", "test", id, "--json");
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ channel: id, state: "delivered", status: 204 });
  await receiver.stop();
});

test("a test of a webhook that hangs says that nobody answered, and its receiver is not asked again at once", async () => {
  const hanging = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Promise<Response>(() => {}) });
  const id = await channel(hanging.url.href);
  const { code, out } = await run("channels", "test", id, "--json");
  expect(code).toBe(1);
  const delivery = JSON.parse(out) as { at: string; next_try_at: string };
  expect(delivery).toMatchObject({
    channel: id,
    state: "waiting",
    tries: 1,
    reason: "No answer within 10 seconds.",
  });
  // The pause of 5 seconds begins when the try of 10 has ended.
  expect(Date.parse(delivery.next_try_at) - Date.parse(delivery.at)).toBeGreaterThanOrEqual(15_000);
  await hanging.stop(true);
});
