// POST /v1/responses when the provider or the gateway fails: the result is complete for a strict client, and the
// ledger is sound.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { DIALECTS } from "../../src/providers/openai/dialects.ts";
import type { Behaviour } from "../../src/providers/simulator/behaviour.ts";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";
import { onProvider, PLAIN } from "../support/models.ts";
import { ProcessGateway } from "../support/process-gateway.ts";
import { readResponseStream, responseSchema } from "../support/response-schema.ts";

let gateway: TestGateway;
let customer: Customer;
beforeAll(async () => {
  gateway = await startGateway({
    models: [PLAIN, onProvider(PLAIN, "chat-only", { model: "plain-chat" })],
    configure: ({ providers }) => {
      const [usual] = providers;
      if (usual === undefined) throw new Error("no provider");
      usual.health = { ...usual.health, openAfterFailures: 1000, halfOpenAfterMs: 1 };
      providers.push({
        ...usual,
        name: "chat-only",
        own: { dialect: { ...DIALECTS.openai, responses: false } },
      });
    },
  });
  customer = await gateway.customer({ usd: "50" });
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
});

type Sent = Record<string, string>;

const ask = (at: { url: string; secret: string }, body: unknown, headers: Sent = {}): Promise<Response> =>
  fetch(`${at.url}/v1/responses`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${at.secret}`, ...headers },
    body: JSON.stringify(body),
  });

const MODELS = ["plain-1", "plain-chat"];
const FAULTS: Record<string, Behaviour> = {
  "an error event at once": { error_after_events: 0 },
  "an error event in the middle": { error_after_events: 8 },
  "an error in the body": { error_in_body: true, error_after_events: 3 },
  "a connection that is lost at once": { reset_after_events: 0 },
  "a connection that is lost in the middle": { reset_after_events: 9 },
  "no finish": { no_finish: true },
  "events that come twice": { duplicate_events: true },
  "words behind the end": { after_done: true },
  "no usage": { no_usage: true },
  "usage that comes first": { usage_first: true },
  "usage that is none": { usage_as_is: { input_tokens: -1, output_tokens: "many", total_tokens: {} } },
  "usage beyond the hold": { usage: { prompt_tokens: 9e6, completion_tokens: 9e6 } },
  "more than its maximum": { overrun_tokens: 300 },
  "a page of HTML": { garbage: "html" },
  "half a body": { garbage: "json" },
  "a broken line": { garbage: "line" },
  "a refused account": { status: 401 },
  "a busy moment": { status: 429, retry_after_s: 1 },
  "an unknown path": { status: 404 },
  "a redirect": { status: 302, location: "http://127.0.0.1:1/" },
};

test.each(Object.entries(FAULTS))("%s leaves a complete answer, and nothing held", async (_, behaviour) => {
  for (const model of MODELS)
    for (const stream of [true, false]) {
      gateway.simulator.behave({ behaviour, calls: 1 });
      const body = { model, input: "Say hello", max_output_tokens: 60, stream };
      const response = await ask({ url: gateway.url, secret: customer.secret }, body);
      const text = await response.text();
      const type = response.headers.get("content-type") ?? "";
      if (response.status === 200)
        if (type.startsWith("text/event-stream")) readResponseStream(text);
        else responseSchema.parse(JSON.parse(text));
      else
        expect(JSON.parse(text)).toMatchObject({
          error: { type: expect.any(String), code: expect.any(String) },
        });
      gateway.simulator.behaveWell();
      expect((await gateway.balance(customer)).held).toBe(0n as never);
      const id = response.headers.get("x-request-id") ?? "";
      if (response.status === 503) continue; // the circuit of a refused account
      const { charge, hold } = await gateway.request(id);
      expect(charge <= hold).toBe(true);
    }
});

test("a gateway that dies in the middle of its stream: the retry gets what was sent, ended as a response that failed", async () => {
  const dying = await ProcessGateway.start({ TOLLGATE_CRASH_AT: "mid_stream:2" });
  try {
    dying.simulator.behave({ behaviour: { tokens_per_second: 40, completion_tokens: 120 } });
    const { secret, organizationId } = await dying.customer();
    const body = { model: "plain-1", input: "Say hello", max_output_tokens: 200, stream: true };
    const sent = { "idempotency-key": crypto.randomUUID() };
    const first = await ask({ url: dying.url, secret }, body, sent);
    await first.text().catch(() => "");
    expect(await dying.ended()).toBe("SIGKILL");

    await dying.run();
    const again = await ask({ url: dying.url, secret }, body, sent);
    const { events, ids, final } = readResponseStream(await again.text());
    expect(ids).toHaveLength(events.length);
    expect(events.length).toBeGreaterThan(5);
    expect([final.status, final.error?.code as string, final.model]).toEqual([
      "failed",
      "provider_error",
      "plain-1",
    ]);
    const credits = await dying.admin<{ available_usd: string; held_usd: string }>(
      "GET",
      `/credits?org=${organizationId}`,
    );
    expect(credits.held_usd).toBe("0.000000000");
    expect(final.gateway.cost?.customer_charge_usd).toBeCloseTo(5 - Number(credits.available_usd), 9);
    expect(dying.simulator.bill()).toHaveLength(1);
  } finally {
    await dying.stop();
  }
}, 120_000);
