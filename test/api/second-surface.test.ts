// A second surface (`test/support/brief-format.ts`), registered by one line like any other: admission, money,
// replays, disconnects and crashes work as for chat completions, in its own format (surfaces.md, head).
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { chatCompletions } from "../../src/gateway/formats/chat-completions/chat-completions.ts";
import { FORMATS } from "../../src/gateway/formats/formats.ts";
import { fingerprintOf } from "../../src/gateway/idempotency.ts";
import { brief } from "../support/brief-format.ts";
import type { GatewayJson } from "../support/events.ts";
import type { Customer, TestGateway } from "../support/gateway.ts";
import { preflight, startForPage } from "../support/page.ts";
import { ProcessGateway } from "../support/process-gateway.ts";
import { reads, waitFor } from "../support/wait.ts";
import { askedTwice } from "../support/waiters.ts";

let gateway: TestGateway;
let customer: Customer;
beforeAll(async () => {
  gateway = await startForPage({ formats: [...FORMATS, brief] });
  customer = await gateway.customer({ usd: "50" });
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
});

const ASKED = { model: "plain-1", ask: "Say hello", atMost: 60 };
const LIVE = { ...ASKED, live: true };
/** The same request for a provider. */
const CHAT = { model: "plain-1", messages: [{ role: "user", content: "Say hello" }], max_tokens: 60 };

interface Brief {
  brief: string;
  said: string;
  why: string;
  in: number;
  out: number;
  gateway: GatewayJson;
}

interface Fault {
  fault: { name: string; text: string; field: string | null; brief: string };
  gateway: Partial<GatewayJson> | null;
}

type Sent = Record<string, string>;

const ask = (url: string, secret: string | null, body: unknown, headers: Sent = {}): Promise<Response> =>
  fetch(`${url}/v1/brief`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(secret !== null && { "x-api-key": secret }),
      ...headers,
    },
    body: JSON.stringify(body),
  });

const asked = (body: unknown, headers: Sent = {}): Promise<Response> =>
  ask(gateway.url, customer.secret, body, headers);

const key = (): Sent => ({ "idempotency-key": crypto.randomUUID() });

interface BriefEvent {
  id: number | null;
  name: string;
  data: Record<string, unknown> & { text?: string; gateway?: GatewayJson };
}

function eventsIn(text: string): BriefEvent[] {
  const whole = text.split("\n\n");
  expect(whole.pop()).toBe("");
  return whole.map((lines) => {
    const [, id, name = "", data = ""] = /^(?:id: (\d+)\n)?event: (\w+)\ndata: (.*)$/.exec(lines) ?? [];
    return { id: id === undefined ? null : Number(id), name, data: JSON.parse(data) as BriefEvent["data"] };
  });
}

const billOf = (requestId: string) =>
  gateway.simulator.bill().filter(({ request_id }) => request_id === requestId);

/** What the ledger has, without what is unique to each request. */
async function bookedOf(requestId: string) {
  const { usage, charge, hold, evidence, variance, minimumApplied, promptBound, outputBound, releaseDigest } =
    await gateway.request(requestId);
  const [call] = billOf(requestId);
  const billed = { prompt: call?.prompt_tokens, completion: call?.completion_tokens, outcome: call?.outcome };
  const booked = { usage, charge, hold, evidence, variance, minimumApplied, promptBound, outputBound };
  return { ...booked, releaseDigest, billed, calls: billOf(requestId).length };
}

test("browsers of an allowed origin may send its credential header, as well as the other one's", async () => {
  const { headers } = await preflight(`${gateway.url}/v1/brief`);
  expect(headers.get("access-control-allow-headers")).toStartWith("authorization, x-api-key, content-type, ");
});

test("its line is all it needs: a gateway without it has no such path, and one with it answers there", async () => {
  expect(FORMATS).not.toContain(brief);
  const answered = await fetch(`${gateway.url}/v1/brief`, { method: "GET" });
  expect([answered.status, answered.headers.get("allow")]).toEqual([405, "POST, OPTIONS"]);
});

test("one answer of a provider is one charge, one receipt and one bill on both surfaces", async () => {
  const before = await gateway.balance(customer);
  const response = await asked(ASKED);
  const json = (await response.json()) as Brief;
  const id = json.gateway.request_id;
  expect(response.status).toBe(200);
  expect(response.headers.get("x-request-id")).toBe(id);
  expect(response.headers.get("brief-id")).toBe(id);
  const chat = await gateway.chat<{ gateway: GatewayJson; choices: { message: { content: string } }[] }>(
    customer,
    CHAT,
  );
  expect(chat.headers.get("brief-id")).toBeNull();
  expect(json.brief).toBe(`brief_${id.slice(4)}`);
  expect(json.said).toBe(chat.json.choices[0]?.message.content ?? "");
  expect({ ...json.gateway, request_id: "", idempotency: "" }).toEqual({
    ...chat.json.gateway,
    request_id: "",
    idempotency: "",
  });
  const [mine, theirs] = [await bookedOf(id), await bookedOf(chat.json.gateway.request_id)];
  expect(mine).toEqual(theirs);
  expect(mine.calls).toBe(1);
  expect([json.in, json.out]).toEqual([mine.billed.prompt ?? -1, mine.billed.completion ?? -1]);
  const after = await gateway.balance(customer);
  expect(before.available - after.available).toBe(mine.charge + theirs.charge);
  expect(after.held).toBe(0n as typeof after.held);
});

test("a stream has its events, its indexes and the same charge", async () => {
  const response = await asked(LIVE);
  const events = eventsIn(await response.text());
  expect(response.headers.get("content-type")).toStartWith("text/event-stream");
  expect(events.map(({ data }) => data["at"])).toEqual(events.map((_, at) => at));
  expect(events.map(({ id }) => id)).toEqual(events.map(() => null));
  const names = events.map(({ name }) => name);
  expect([names[0], names.at(-2), names.at(-1)]).toEqual(["open", "sum", "shut"]);
  expect(new Set(names.slice(1, -2))).toEqual(new Set(["say"]));
  const { gateway: receipt } = events.at(-2)?.data ?? {};
  const chat = await gateway.stream(customer, CHAT);
  const whole = (await (await asked(ASKED)).json()) as Brief;
  expect(events.map(({ data }) => data.text ?? "").join("")).toBe(whole.said);
  const theirs = await bookedOf(chat.headers.get("x-request-id") ?? "");
  expect(await bookedOf(receipt?.request_id ?? "")).toEqual(theirs);
  expect(events[0]?.data.gateway?.cost).toBeUndefined();
  expect(receipt?.cost.customer_charge_usd).toBe(Number(theirs.charge) / 1e9);
});

test("every refusal uses its envelope, whichever room it comes from", async () => {
  const read = async (response: Response): Promise<[number, string, string | null]> => {
    const { fault, gateway: known } = (await response.json()) as Fault;
    const id = response.headers.get("brief-id") ?? "";
    expect(fault.brief).toBe(`brief_${id.slice(4)}`);
    expect(response.headers.get("x-request-id")).toBe(id);
    expect(known === null).toBe([401, 415].includes(response.status));
    return [response.status, fault.name, fault.field];
  };
  expect(await read(await ask(gateway.url, null, ASKED))).toEqual([401, "invalid_api_key", null]);
  expect(await read(await ask(gateway.url, `${customer.secret}x`, ASKED))).toEqual([
    401,
    "invalid_api_key",
    null,
  ]);
  const bearer = { authorization: `Bearer ${customer.secret}` };
  expect(await read(await ask(gateway.url, null, ASKED, bearer))).toEqual([401, "invalid_api_key", null]);
  const unread = await read(await asked(ASKED, { "content-type": "text/plain" }));
  expect(unread.slice(0, 2)).toEqual([415, "unsupported_media_type"]);
  expect(await read(await asked({ ...ASKED, messages: [] }))).toEqual([400, "unknown_parameter", "messages"]);
  const unknown = await read(await asked({ ...ASKED, model: "no-such-1" }));
  expect(unknown.slice(0, 2)).toEqual([404, "model_not_found"]);
  const poor = await gateway.customer({ usd: "0" });
  const unpaid = await read(await ask(gateway.url, poor.secret, ASKED));
  expect(unpaid.slice(0, 2)).toEqual([402, "insufficient_credits"]);
  gateway.simulator.behave({ behaviour: { status: 500 }, calls: 1 });
  expect(await read(await asked(ASKED))).toEqual([502, "provider_error", null]);
  const error_message = "Invalid 'temperature': too hot";
  gateway.simulator.behave({ behaviour: { status: 400, error_message }, calls: 1 });
  expect(await read(await asked({ ...ASKED, heat: 1 }))).toEqual([400, "invalid_request", "heat"]);
});

test("a retry gets the same bytes, of an answer and of a stream, pays nothing and calls nobody", async () => {
  for (const body of [ASKED, LIVE]) {
    const sent = key();
    const first = await asked(body, sent);
    const text = await first.text();
    const [balance, calls] = [await gateway.balance(customer), gateway.simulator.bill().length];
    const again = await asked(body, sent);
    expect(await again.text()).toBe(text);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(again.headers.get("brief-id")).toBe(first.headers.get("brief-id"));
    expect(await gateway.balance(customer)).toEqual(balance);
    expect(gateway.simulator.bill()).toHaveLength(calls);
    if (body === ASKED) continue;
    const events = eventsIn(text);
    expect(events.map(({ id }) => id)).toEqual(events.map((_, at) => at + 1));
    const rest = await asked(body, { ...sent, "last-event-id": "2" });
    expect(eventsIn(await rest.text())).toEqual(events.slice(2));
  }
});

test("a retry of a running stream follows it to its own end", async () => {
  const sent = key();
  const [one, two] = await askedTwice(gateway, customer, () => asked(LIVE, sent));
  const [text, followed] = await Promise.all([one.text(), two.text()]);
  expect(followed).toBe(text);
  expect(two.headers.get("brief-id")).toBe(one.headers.get("brief-id"));
  expect(billOf(one.headers.get("x-request-id") ?? "")).toHaveLength(1);
});

test("a key of one surface is another request on the other, whatever the body", async () => {
  const sent = key();
  expect((await asked(ASKED, sent)).status).toBe(200);
  const chat = await gateway.chat<{ error: { code: string } }>(customer, CHAT, sent);
  expect([chat.status, chat.json.error.code]).toEqual([422, "idempotency_key_reused"]);
  const theirs = key();
  expect((await gateway.chat(customer, CHAT, theirs)).status).toBe(200);
  const mine = await asked(ASKED, theirs);
  expect([mine.status, ((await mine.json()) as Fault).fault.name]).toEqual([422, "idempotency_key_reused"]);
});

test("idempotency keys claimed by chat completions before there were other surfaces stay valid", () => {
  const digest = new Bun.CryptoHasher("sha256")
    .update('POST /v1/chat/completions v1\n{"a":[1],"b":2}')
    .digest("hex");
  expect(Buffer.from(fingerprintOf(chatCompletions, { b: 2, a: [1] })).toString("hex")).toBe(digest);
  expect(Buffer.from(fingerprintOf(brief, { b: 2, a: [1] })).toString("hex")).not.toBe(digest);
});

test("a provider that breaks off ends the stream in the surface's own way, charged for what came", async () => {
  const deltas = ["one ", "two ", "three "].map((content) => ({ content }));
  gateway.simulator.behave({ behaviour: { deltas, reset_after_events: 3 }, calls: 1 });
  const response = await asked(LIVE);
  const events = eventsIn(await response.text());
  expect(events.slice(-2).map(({ name }) => name)).toEqual(["fault", "shut"]);
  expect(events.at(-2)?.data).toMatchObject({ name: "provider_error" });
  const record = await gateway.request(response.headers.get("x-request-id") ?? "");
  expect([record.state, record.evidence]).toEqual(["settled", "delivered_tokens"]);
  expect(events.at(-2)?.data.gateway?.cost.customer_charge_usd).toBe(Number(record.charge) / 1e9);
});

test("a client that leaves is charged for what it got, and nothing stays held", async () => {
  gateway.simulator.behave({ behaviour: { tokens_per_second: 10, completion_tokens: 60 }, calls: 1 });
  const leaving = new AbortController();
  const response = await fetch(`${gateway.url}/v1/brief`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": customer.secret },
    body: JSON.stringify(LIVE),
    signal: leaving.signal,
  });
  const id = response.headers.get("x-request-id") ?? "";
  const reader = response.body?.getReader();
  await reader?.read();
  await reader?.read();
  leaving.abort();
  await waitFor(async () => (await gateway.balance(customer)).held === 0n, "the end of its hold");
  const { state, evidence, charge, hold } = await gateway.request(id);
  expect([state, evidence]).toEqual(["settled", "delivered_tokens"]);
  expect(charge > 0n && charge < hold).toBe(true);
  await reads(async () => billOf(id).map(({ outcome }) => outcome), ["cut"]); // the provider hears of it after the ledger
});

test("its quote and its ids work on the free endpoints", async () => {
  const response = await fetch(`${gateway.url}/v1/brief/quote`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": customer.secret },
    body: JSON.stringify(ASKED),
  });
  const quoted = (await response.json()) as { object: string; admissible: boolean; max_charge_usd: string };
  expect(quoted).toMatchObject({ object: "brief.quote", admissible: true });
  const { brief: id, gateway: receipt } = (await (await asked(ASKED)).json()) as Brief;
  const found = await gateway.get<{ id: string; gateway: GatewayJson }>(customer, `/v1/generation?id=${id}`);
  expect(found.json.gateway).toEqual(receipt);
});

/** The maximum for this answer at its speed: what the runtime takes at once. */
const EVENTS_PER_PIECE = 3;

test("a gateway that dies in the middle of its stream: the retry gets what was sent, ended in its own way", async () => {
  const preload = { BUN_OPTIONS: `--preload=${join(import.meta.dir, "../support/with-brief-format.ts")}` };
  const dying = await ProcessGateway.start({ ...preload, TOLLGATE_CRASH_AT: "mid_stream:2" });
  try {
    dying.simulator.behave({ behaviour: { tokens_per_second: 40, completion_tokens: 120 } });
    const { secret, organizationId } = await dying.customer();
    const body = { ...LIVE, atMost: 200 };
    const sent = key();
    const first = await ask(dying.url, secret, body, sent);
    let seen = "";
    const reader = first.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const piece = await reader?.read().catch(() => null);
      if (piece === null || piece === undefined || piece.done) break;
      seen += piece.value;
    }
    expect(await dying.ended()).toBe("SIGKILL");

    await dying.run(preload);
    const again = await ask(dying.url, secret, body, sent);
    const events = eventsIn(await again.text());
    expect(events.map(({ id }) => id)).toEqual(events.map((_, at) => at + 1));
    expect(events.map(({ name }) => name).slice(-2)).toEqual(["lost", "shut"]);
    const said = events.slice(0, -2);
    // What was stored may lag behind what was sent; and the piece that was sent last may be lost with its sender.
    const got = eventsIn(seen.slice(0, seen.lastIndexOf("\n\n") + 2));
    const common = Math.min(got.length, said.length);
    expect(common).toBeGreaterThan(2);
    expect(said.length - got.length).toBeLessThanOrEqual(EVENTS_PER_PIECE);
    expect(said.slice(0, common)).toEqual(got.slice(0, common));
    const { data } = events.at(-2) ?? {};
    expect(data?.["fault"]).toBe("provider_error");
    type Credits = { available_usd: string; held_usd: string };
    const credits = await dying.admin<Credits>("GET", `/credits?org=${organizationId}`);
    expect(credits.held_usd).toBe("0.000000000");
    expect(data?.gateway?.cost.customer_charge_usd).toBeCloseTo(5 - Number(credits.available_usd), 9);
    expect(dying.simulator.bill()).toHaveLength(1);
    expect((await dying.admin<{ ok: boolean }>("GET", "/ledger/audit")).ok).toBe(true);
  } finally {
    await dying.stop();
  }
}, 120_000);
