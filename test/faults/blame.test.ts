// Who is blamed for a failed call: one organization's requests close no route for another, however its calls end.
import { afterEach, beforeEach, expect, test } from "bun:test";
import type { ErrorJson } from "../support/events.ts";
import { type Customer, hello, type Reply, startGateway, type TestGateway } from "../support/gateway.ts";

const OPEN_AFTER = 3;
/** Text without a pause, for longer than the gateway waits for any answer. */
const TOO_LONG = { tokens_per_second: 20, completion_tokens: 60 };
const DEADLINE_MS = 1_000;

let gateway: TestGateway;
let one: Customer;
let other: Customer;
beforeEach(async () => {
  gateway = await startGateway({
    configure: (config) => {
      Object.assign(config.limits, { requestTimeoutMs: DEADLINE_MS, answerTimeoutMs: DEADLINE_MS });
      for (const provider of config.providers)
        provider.health = { ...provider.health, openAfterFailures: OPEN_AFTER, halfOpenAfterMs: 60_000 };
    },
  });
  one = await gateway.customer({ usd: "100" });
  other = await gateway.customer({ usd: "100" });
});
afterEach(async () => {
  await gateway.assertSound();
  await gateway.stop();
});

const asks = (customer: Customer, body: object = hello()): Promise<Reply<ErrorJson>> =>
  gateway.chat<ErrorJson>(customer, body);
const together = <T>(ask: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: OPEN_AFTER }, ask));
const said = ({ status, json }: Reply<ErrorJson>): unknown =>
  status === 200 ? 200 : [status, json.error.code];

test("streams that last until their timeout close the route for nobody, and are told so", async () => {
  gateway.simulator.behave({ behaviour: TOO_LONG, calls: OPEN_AFTER });
  const streams = await together(() => gateway.stream(one, { ...hello(), max_tokens: 200 }));
  for (const { events } of streams)
    expect(events.chunks.at(-1)?.error).toMatchObject({
      code: "provider_timeout",
      message: expect.stringContaining("The time limit for answers was reached"),
    });
  expect([said(await asks(one)), said(await asks(other))]).toEqual([200, 200]);
});

test("whole answers that do not come in time close it for the organization that asked, and for nobody else", async () => {
  gateway.simulator.behave({ behaviour: TOO_LONG, calls: OPEN_AFTER });
  const answers = await together(() => asks(one, { ...hello(), max_tokens: 200 }));
  expect(answers.map(said)).toEqual(answers.map(() => [504, "provider_timeout"]));
  expect(said(await asks(one))).toEqual([503, "route_unhealthy"]);
  expect(said(await asks(other))).toBe(200);
  expect(said(await asks(one))).toBe(200); // it went well for another
});

test("a prompt that makes a provider fail closes it for its sender; if it fails for another, too, for all", async () => {
  gateway.simulator.behave({ behaviour: { status: 500 }, calls: OPEN_AFTER + 1 });
  for (let n = 0; n < OPEN_AFTER; n += 1) await asks(one);
  expect(said(await asks(one))).toEqual([503, "route_unhealthy"]);
  expect(said(await asks(other))).toEqual([502, "provider_error"]);
  expect(said(await asks(other))).toEqual([503, "route_unhealthy"]);
});
