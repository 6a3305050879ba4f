// One answer of a provider through every surface: one charge, one receipt, one row that names the surface
// (surfaces.md, head).
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { FORMATS } from "../../src/gateway/formats/formats.ts";
import type { GatewayJson } from "../support/events.ts";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";
import { PLAIN, VECTORS } from "../support/models.ts";

let gateway: TestGateway;
let customer: Customer;
beforeAll(async () => {
  gateway = await startGateway({ models: [PLAIN, VECTORS] });
  customer = await gateway.customer({ usd: "50" });
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
});

/** The same question, with the same output limit. */
const SPOKEN: Record<string, object> = {
  "chat.completions": { max_tokens: 60, messages: [{ role: "user", content: "Say hello" }] },
  completions: { max_tokens: 60, prompt: "Say hello" },
  messages: { max_tokens: 60, messages: [{ role: "user", content: "Say hello" }] },
  responses: { max_output_tokens: 60, input: "Say hello" },
};
const VECTOR = { input: "Say hello" };

const formatOf = (surface: string): (typeof FORMATS)[number] => {
  const format = FORMATS.find((one) => one.surface === surface);
  if (format === undefined) throw new Error(`no surface ${surface}`);
  return format;
};

async function asked(surface: string, body: object): Promise<{ id: string; text: string; status: number }> {
  const response = await fetch(`${gateway.url}${formatOf(surface).path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${customer.secret}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return {
    id: response.headers.get("x-request-id") ?? "",
    text: await response.text(),
    status: response.status,
  };
}

/**
 * What the ledger, the receipt and the provider's bill have of it, without what is unique to each request. Leaves out
 * the hold, too, which follows from the outgoing body and differs if the upstream speaks the surface itself.
 */
async function bookedOf(id: string): Promise<object> {
  const { usage, charge, hold, evidence, variance, outputBound, finishReason, releaseDigest } =
    await gateway.request(id);
  expect(charge).toBeLessThanOrEqual(hold);
  const bill = gateway.simulator.bill().filter(({ request_id }) => request_id === id);
  const { json } = await gateway.get<{ gateway: GatewayJson }>(customer, `/v1/generation?id=${id}`);
  const { request_id: _, idempotency: __, ...receipt } = json.gateway;
  return {
    booked: { usage, charge, evidence, variance, outputBound, finishReason, releaseDigest },
    billed: bill.map(({ prompt_tokens: prompt, completion_tokens: completion }) => [prompt, completion]),
    receipt,
  };
}

test("every surface has a distinct name, and a question here", () => {
  const names = FORMATS.map(({ surface }) => surface);
  expect(new Set(names).size).toBe(names.length);
  expect(names.toSorted()).toEqual([...Object.keys(SPOKEN), "embeddings"].toSorted());
});

describe.each([false, true])("streamed: %p", (stream) => {
  test.each(Object.entries(SPOKEN))("%s: what chat completions book", async (surface, fields) => {
    const chat = await asked("chat.completions", { model: "plain-1", ...SPOKEN["chat.completions"], stream });
    const mine = await asked(surface, { model: "plain-1", ...fields, stream });
    expect([chat.status, mine.status]).toEqual([200, 200]);
    expect(await bookedOf(mine.id)).toEqual(await bookedOf(chat.id));
    expect(mine.text).toContain(`"request_id":"${mine.id}"`);
    const { charge } = await gateway.request(mine.id);
    expect(mine.text).toContain(`"customer_charge_usd":${Number(charge) / 1e9}`);
  });
});

interface Row {
  id: string;
  surface: string | null;
  state: string;
  input_tokens: number | null;
  output_tokens: number | null;
}

const rows = async (query: string): Promise<Row[]> => {
  const path = `/requests?org=${customer.organizationId}&limit=200${query}`;
  return (await gateway.admin<{ data: Row[] }>("GET", path)).json.data;
};

test("records, lists, filters and metrics name the surface, including requests that held nothing", async () => {
  const bodies = { ...SPOKEN, embeddings: VECTOR };
  for (const [surface, fields] of Object.entries(bodies)) {
    const { id } = await asked(surface, {
      ...fields,
      model: surface === "embeddings" ? "vectors-1" : "plain-1",
    });
    const refused = await asked(surface, { ...fields, model: "nobody-1" });
    expect(refused.status).toBe(404);
    const listed = await rows(`&surface=${surface}`);
    expect(new Set(listed.map((row) => row.surface))).toEqual(new Set([surface]));
    expect(listed.map((row) => row.id)).toEqual(expect.arrayContaining([id, refused.id]));
    for (const one of [id, refused.id]) {
      const { json } = await gateway.admin<Row>("GET", `/requests/${one}`);
      expect([json.id, json.surface]).toEqual([one, surface]);
    }
    const all = await rows("");
    expect(all.find((row) => row.id === id)).toMatchObject({ surface, state: "settled" });
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    expect(metrics).toContain(`tollgate_responses_total{status="404",surface="${surface}"} `);
  }
  const [vectors] = await rows("&surface=embeddings&state=settled");
  expect(vectors).toMatchObject({ input_tokens: 2, output_tokens: 0 });
  expect((await gateway.admin("GET", `/requests?org=${customer.organizationId}&surface=faxes`)).status).toBe(
    400,
  );
});

test("a row of a program that knew one surface belongs to that one", async () => {
  const { id } = await asked("completions", { model: "plain-1", ...SPOKEN["completions"] });
  const refused = await asked("completions", { model: "nobody-1", ...SPOKEN["completions"] });
  expect((await rows("&surface=completions")).map((row) => row.id)).toEqual(
    expect.arrayContaining([id, refused.id]),
  );
  await gateway.tamper("UPDATE request SET surface = NULL WHERE request_id = ?1", id);
  await gateway.tamper("UPDATE journal SET surface = NULL WHERE request_id = ?1", refused.id);
  expect((await gateway.request(id)).surface).toBe("chat.completions");
  for (const one of [id, refused.id]) {
    expect((await rows("&surface=completions")).map((row) => row.id)).not.toContain(one);
    expect((await rows("&surface=chat.completions")).find((row) => row.id === one)?.surface).toBe(
      "chat.completions",
    );
    const { json } = await gateway.admin<Row>("GET", `/requests/${one}`);
    expect([json.id, json.surface]).toEqual([one, "chat.completions"]);
  }
});
