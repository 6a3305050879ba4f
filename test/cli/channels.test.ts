// `channels test` reports the outcome: it waits for the first attempt, and exits with 0 only if the receiver accepted
// it.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { startGateway, type TestGateway } from "../support/gateway.ts";
import { PROGRAM, type Ran, runToEnd } from "../support/program.ts";

let gateway: TestGateway;
let org: string;
let status = 204;
const receiver = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(null, { status }) });
beforeAll(async () => {
  gateway = await startGateway({
    store: "sqlite",
    configure: (config) => (config.alerts.privateTargets = true),
  });
  org = (await gateway.customer()).organizationId;
});
afterAll(async () => {
  await receiver.stop(true);
  await gateway.stop();
});

const run = (...args: string[]): Promise<Ran> =>
  runToEnd(PROGRAM, ["--data-dir", gateway.dataDir, ...args, "--org", org], { cwd: gateway.dataDir });
async function channel(url: string): Promise<string> {
  const { out } = await run("channels", "add", "--name", "Ops", "--webhook", url, "--json");
  return (JSON.parse(out) as { id: string }).id;
}

test("a message that arrives is reported as delivered, exit code 0", async () => {
  const id = await channel(`http://127.0.0.1:${receiver.port}/hook`);
  const { code, out } = await run("channels", "test", id);
  expect([code, out]).toEqual([0, expect.stringMatching(new RegExp(`${id} +test +delivered +1 `))]);
  const asJson = await run("channels", "test", id, "--json");
  expect(JSON.parse(asJson.out)).toMatchObject({ channel: id, state: "delivered", status: 204 });
}, 30_000);

test("a message that is refused or meets nobody is reported with the reason after its first attempt, exit code 1", async () => {
  status = 500;
  const refused = await run("channels", "test", await channel(`http://127.0.0.1:${receiver.port}/hook`));
  expect([refused.code, refused.out]).toEqual([1, expect.stringMatching(/waiting +1 .*It answered 500\./)]);
  const nobody = await run("channels", "test", await channel("http://127.0.0.1:9/hook"));
  expect([nobody.code, nobody.out]).toEqual([1, expect.stringMatching(/waiting +1 .*ECONNREFUSED/)]);
  const dashboard = await run("channels", "test", "dashboard");
  expect([dashboard.code, dashboard.out]).toEqual([0, expect.stringContaining("delivered")]);
}, 30_000);
