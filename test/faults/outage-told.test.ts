// A provider that fails or is gone is logged once when it begins and once when it is over, however many callers are
// refused meanwhile: the log has no other trace of a closed route.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createLog } from "../../src/lib/log.ts";
import { startSimulator } from "../../src/providers/simulator/server.ts";
import { hello, startGateway, type TestGateway } from "../support/gateway.ts";
import { waitFor } from "../support/wait.ts";

interface Line {
  level: number;
  msg?: string;
  provider?: string;
  route?: string;
  org?: string;
  why?: string;
}

const [INFO, WARN] = [30, 40];
const FAILURES = 3;

let gateway: TestGateway;
const lines: Line[] = [];
const told = (level: number): Line[] =>
  lines.splice(0).filter((line) => line.level === level && line.msg !== undefined);

beforeAll(async () => {
  gateway = await startGateway({
    log: createLog("info", { write: (line: string) => void lines.push(JSON.parse(line) as Line) }),
    configure: (config) => {
      for (const provider of config.providers)
        provider.health = {
          ...provider.health,
          probe: "/models",
          intervalMs: 50,
          openAfterFailures: FAILURES,
          halfOpenAfterMs: 50,
        };
    },
  });
});
afterAll(() => gateway.stop());

test("consecutive failed calls, of one organization and then of all", async () => {
  const [one, other] = [await gateway.customer(), await gateway.customer()];
  gateway.simulator.behave({ behaviour: { status: 500 } });
  lines.splice(0);
  for (let nth = 0; nth < FAILURES + 2; nth += 1) await gateway.chat(one, hello());
  expect(told(WARN)).toMatchObject([
    { provider: "simulator", route: expect.any(String), org: one.organizationId, why: expect.any(String) },
  ]);
  for (let nth = 0; nth < FAILURES + 2; nth += 1) await gateway.chat(other, hello());
  const [closed, ...more] = told(WARN);
  expect(closed?.msg).toContain("is closed except for trials");
  expect(closed?.org).toBeUndefined();
  expect(more).toEqual([]);
  gateway.simulator.behaveWell();
  await waitFor(async () => (await gateway.chat(one, hello())).status === 200, "a trial that goes well");
  await gateway.chat(other, hello());
  expect(told(INFO)).toMatchObject([
    { provider: "simulator", route: closed?.route, msg: expect.stringContaining("is open again") },
  ]);
});

test("a provider that is gone", async () => {
  const { port } = new URL(gateway.simulator.url);
  lines.splice(0);
  await gateway.simulator.stop();
  await waitFor(
    async () => lines.some(({ msg }) => msg?.includes("does not answer its probe") === true),
    "a probe that fails",
  );
  const customer = await gateway.customer();
  for (let nth = 0; nth < 5; nth += 1) expect((await gateway.chat(customer, hello())).status).toBe(503);
  expect(told(WARN)).toMatchObject([{ provider: "simulator", why: expect.stringMatching(/\w/) }]);
  const again = await startSimulator({ port: Number(port) });
  await waitFor(async () => (await gateway.chat(customer, hello())).status === 200, "an answer");
  expect(told(INFO)).toMatchObject([
    { provider: "simulator", msg: expect.stringContaining("answers its probe again") },
  ]);
  await again.stop();
});
