// One organization's day on the dashboard's API: a key, a request, what it cost everywhere, a limit, a revocation.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { AppAnswer } from "../../src/api/client.ts";
import { type Browser, firstOperator, newMember } from "../support/browser.ts";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";
import { gatewayOf } from "../support/events.ts";
import { edit } from "../support/versions.ts";
import { clearOfTheTurn, DAY_MS, TURN_PATIENCE_MS } from "../support/wait.ts";

let gateway: TestGateway;
let root: Browser;
let owner: Browser;
let developer: Browser;
let org: string;
let key: AppAnswer<"POST /orgs/{org}/keys">;
let customer: Customer;

beforeAll(async () => {
  await clearOfTheTurn(DAY_MS);
  gateway = await startGateway();
  root = await firstOperator(gateway);
  org = (await root.app("POST /operator/organizations", {}, { name: "Acme" })).id;
  owner = await newMember(root, gateway, { org, role: "owner", email: "olga@example.com" });
  developer = await newMember(root, gateway, { org, role: "developer", email: "dora@example.com" });
}, TURN_PATIENCE_MS);
afterAll(() => gateway.stop());

/** A reset discards what has not been read yet: what came before it had time to be read. */
const PACED = { tokens_per_second: 20, completion_tokens: 200 };

const ask = (text: string, more: object = {}) => ({
  model: "plain-1",
  messages: [{ role: "user", content: text }],
  max_tokens: 64,
  ...more,
});

test("an operator finds an organization by its name or its id", async () => {
  const found = async (search: string): Promise<string[]> =>
    (await root.app("GET /operator/organizations", {}, undefined, `?search=${search}`)).data.map(
      ({ id }) => id,
    );
  expect(await found("acm")).toEqual([org]);
  expect(await found(org)).toEqual([org]);
  expect(await found("nobody")).toEqual([]);
});

test("an operator grants credits once per reference, and sees before and after", async () => {
  const grant = { org, amount_usd: "5", kind: "purchase", reference: "INV-1", reason: "first invoice" };
  const granted = await root.app("POST /operator/credits", {}, grant);
  expect(granted).toMatchObject({ credited: true, before_usd: "0.000000000", after_usd: "5.000000000" });
  expect((await root.app("POST /operator/credits", {}, grant)).credited).toBe(false);
  const [credit] = (await root.app("GET /operator/credits")).data;
  expect(credit).toMatchObject({ org, kind: "purchase", amount_usd: "5.000000000", by: { name: "Root" } });
});

test("a developer creates a key; the secret is in this one answer and in no later one", async () => {
  const once = { headers: { "idempotency-key": "form-1-of-this-test" } };
  const body = { name: "Dora's key", limit_usd: "1" };
  const created = await developer.try("POST /orgs/{org}/keys", { org }, body, once);
  expect(created.status).toBe(201);
  expect(created.headers.get("cache-control")).toBe("no-store");
  key = created.json as unknown as typeof key;
  expect(key.secret).toStartWith("gw_sk_");
  const again = await developer.try("POST /orgs/{org}/keys", { org }, body, once);
  expect(again.json as unknown).toMatchObject({ id: key.id, secret: null });
  const reused = await developer.try("POST /orgs/{org}/keys", { org }, { ...body, name: "other" }, once);
  expect([reused.status, reused.json.error.code]).toEqual([422, "idempotency_key_reused"]);
  const refused = { headers: { "idempotency-key": "form-2-of-this-test" } };
  expect((await developer.try("POST /orgs/{org}/keys", { org }, { name: "" }, refused)).status).toBe(400);
  const clicks = await Promise.all(
    [1, 2, 3].map(() => developer.try("POST /orgs/{org}/keys", { org }, { name: "clicked" }, refused)),
  );
  const ids = new Set(clicks.map(({ json }) => (json as unknown as { id: string }).id));
  expect(ids.size).toBe(1);
  await developer.app("POST /orgs/{org}/keys/{key}/revoke", { org, key: [...ids][0] ?? "" });
  const list = await developer.try("GET /orgs/{org}/keys", { org });
  expect(list.text).not.toContain(key.secret ?? "?");
  const { data } = list.json as unknown as AppAnswer<"GET /orgs/{org}/keys">;
  expect(data).toHaveLength(2);
  expect(data[1]).toMatchObject({
    state: "active",
    left_usd: "1.000000000",
    changeable: true,
    created_by: { name: "dora" },
  });
  customer = { organizationId: org, keyId: key.id, secret: key.secret ?? "" };
});

test("a key is renamed and limited in one form; each change is one line of the audit log", async () => {
  const { version } = await developer.app("GET /orgs/{org}/keys/{key}", { org, key: key.id });
  const send = (body: object) =>
    developer.try("PATCH /orgs/{org}/keys/{key}", { org, key: key.id }, { ...body, version });
  const renamed = await edit(
    developer,
    "PATCH /orgs/{org}/keys/{key}",
    { org, key: key.id },
    { name: "Batch", limit_usd: "2" },
  );
  expect(renamed).toMatchObject({ name: "Batch", limit_usd: "2.000000000" });
  const audited = async (action: string) =>
    (await owner.app("GET /orgs/{org}/audit", { org }, undefined, `?target=${key.id}&action=${action}`)).data;
  expect(await audited("key.rename")).toMatchObject([
    { actor: { name: "dora" }, before: '{"name":"Dora\'s key"}', after: '{"name":"Batch"}' },
  ]);
  expect(await audited("key.limit")).toHaveLength(1);
  // Omitted settings stay, and an unchanged one leaves no line.
  expect(
    await edit(developer, "PATCH /orgs/{org}/keys/{key}", { org, key: key.id }, { name: "Batch" }),
  ).toMatchObject({
    limit_usd: "2.000000000",
  });
  for (const body of [{}, { name: " " }, { name: "a\nb" }, { name: "x".repeat(201) }, { name: null }])
    expect([body, (await send(body)).status]).toEqual([body, 400]);
  expect((await send({ name: "Nightly", limit_usd: "1e9" })).status).toBe(400);
  await edit(
    developer,
    "PATCH /orgs/{org}/keys/{key}",
    { org, key: key.id },
    { name: "Dora's key", limit_usd: "1" },
  );
  expect(await audited("key.rename")).toHaveLength(2);
});

test("a request costs the same in its answer, activity, usage, billing and on the key", async () => {
  const reply = await gateway.chat<{
    gateway: { request_id: string; cost: { customer_charge_usd: number } };
  }>(customer, ask("Say hello"), { "idempotency-key": "paid-once-1" });
  expect(reply.status).toBe(200);
  const { request_id: id, cost } = reply.json.gateway;
  const { data } = await developer.app("GET /orgs/{org}/activity", { org });
  expect(data[0]).toMatchObject({ id, state: "settled", model: "plain-1", key: { name: "Dora's key" } });
  const charge = data[0]?.charge_usd ?? "";
  expect(Number(charge)).toBe(cost.customer_charge_usd);
  const detail = await developer.app("GET /orgs/{org}/activity/{request}", { org, request: id });
  expect(detail.arithmetic?.charge_usd).toBe(charge);
  expect(
    detail.arithmetic?.minimum_applied ? detail.arithmetic.minimum_usd : detail.arithmetic?.sum_usd,
  ).toBe(charge);
  expect(detail.request?.gateway).toEqual(reply.json.gateway as never);
  expect(detail.request?.attempts).toHaveLength(1);
  expect(detail.attempts).toEqual([{ n: 1, reason: "The provider answered.", paid_by: "customer" }]);
  expect(detail.idempotency).toMatchObject({ state: "answer_kept" });
  const mine = await fetch(`${gateway.url}/v1/receipts/${id}`, {
    headers: { authorization: `Bearer ${customer.secret}` },
  });
  const signed = await developer.app("GET /orgs/{org}/activity/{request}/receipt", { org, request: id });
  expect(signed as unknown).toEqual(await mine.json());
  const away = { org: (await gateway.customer()).organizationId, request: id };
  const elsewhere = await root.try("GET /orgs/{org}/activity/{request}/receipt", away);
  expect(elsewhere.status).toBe(404);
  for (const group_by of ["model", "key", "member", "scope", "provider", "region"]) {
    const used = await developer.app("GET /orgs/{org}/usage", { org }, undefined, `?group_by=${group_by}`);
    expect(used.total).toMatchObject({ requests: 1, charge_usd: charge });
    expect(used.rows).toHaveLength(1);
    expect(used.rows[0]?.charge_usd).toBe(charge);
  }
  const twice = "?group_by=model&then_by=key";
  const used = await developer.app("GET /orgs/{org}/usage", { org }, undefined, twice);
  expect(used.rows).toMatchObject([
    { group: "plain-1", second: customer.keyId, label: "plain-1 · Dora's key", charge_usd: charge },
  ]);
  expect(used.series).toMatchObject([{ group: "plain-1", second: customer.keyId }]);
  const csv = await developer.send("GET", `/app/v1/orgs/${org}/usage.csv${twice}`);
  expect(csv.text.split("\r\n")[0]).toContain(",model,key,charged_requests,");
  const billing = await owner.app("GET /orgs/{org}/billing", { org });
  expect(billing).toMatchObject({
    charges_usd: charge,
    purchases_usd: "5.000000000",
    drift_usd: "0.000000000",
  });
  const statement = await owner.app("GET /orgs/{org}/billing/ledger", { org });
  expect(statement.data.map(({ kind }) => kind)).toEqual(["charge", "purchase"]);
  expect(statement.data[0]?.amount_usd).toBe(`-${charge}`);
  const shown = (await developer.app("GET /orgs/{org}/keys", { org })).data.find((row) => row.id === key.id);
  expect(shown?.month_spend_usd).toBe(charge);
  const overview = await developer.app("GET /orgs/{org}/overview", { org });
  expect(overview).toMatchObject({
    spend_today_usd: charge,
    spend: { requests: 1, charge_usd: charge, before_usd: "0.000000000", percent: null },
    unusual: null,
    requests: 1,
    error_rate: 0,
    steps: { first_request: true },
  });
});

test("replays and refusals are rows too: free, with the request that was paid, with their code", async () => {
  const replay = await gateway.chat(customer, ask("Say hello"), { "idempotency-key": "paid-once-1" });
  expect(replay.status).toBe(200);
  expect((await gateway.chat(customer, ask("hi", { max_tokens: 0 }))).status).toBe(400);
  expect(
    (await gateway.chat({ ...customer, secret: `${customer.secret.slice(0, -1)}!` }, ask("hi"))).status,
  ).toBe(401);
  const { data } = await owner.app("GET /orgs/{org}/activity", { org });
  expect(data.map(({ state }) => state)).toEqual(["refused", "replay", "settled"]);
  expect(data[0]).toMatchObject({ code: "integer_below_min_value", status: 400, charge_usd: "0.000000000" });
  expect(data[1]?.replay_of).toBe(data[2]?.id ?? "");
  const told = await owner.app("GET /orgs/{org}/activity/{request}", { org, request: data[0]?.id ?? "" });
  expect(told.advice).toEqual({
    happened: "an integer is too small",
    next: "param names the field; the message gives the bound",
  });
  const only = await owner.app(
    "GET /orgs/{org}/activity",
    { org },
    undefined,
    "?state=refused&code=integer_below_min_value",
  );
  expect(only.data).toHaveLength(1);
  const original = await owner.app("GET /orgs/{org}/activity/{request}", { org, request: data[2]?.id ?? "" });
  expect(original.idempotency).toMatchObject({ key: "paid-once-1", caller_supplied: true });
  expect(original.idempotency?.replays.map(({ id }) => id)).toEqual([data[1]?.id ?? ""]);
  const found = await owner.app("GET /orgs/{org}/activity", { org }, undefined, "?find=paid-once-1");
  expect(found.data.map(({ id }) => id)).toEqual([data[1]?.id ?? "", data[2]?.id ?? ""]);
  const overview = await owner.app("GET /orgs/{org}/overview", { org });
  expect(overview).toMatchObject({
    refused: 1,
    refusals: [{ code: "integer_below_min_value", model: null, key: null, requests: 1, instead: null }],
  });
});

test("pages of activity join without a gap, and a forged cursor is refused", async () => {
  const seen: string[] = [];
  let cursor = "";
  do {
    const page = await owner.app("GET /orgs/{org}/activity", { org }, undefined, `?limit=1${cursor}`);
    seen.push(...page.data.map(({ id }) => id));
    cursor = page.next_cursor === null ? "" : `&cursor=${page.next_cursor}`;
  } while (cursor !== "");
  expect(seen).toEqual((await owner.app("GET /orgs/{org}/activity", { org })).data.map(({ id }) => id));
  const forged = await owner.try("GET /orgs/{org}/activity", { org }, undefined, {
    query: "?cursor=' OR 1=1--",
  });
  expect([forged.status, forged.json.error.code]).toEqual([400, "invalid_request"]);
});

test("the key reaches its limit, the owner raises it, the next request is served; revoked, the next is 401", async () => {
  const params = { org, key: key.id };
  await edit(owner, "PATCH /orgs/{org}/keys/{key}", params, { limit_usd: "0.000000001" });
  const blocked = (await owner.app("GET /orgs/{org}/keys", { org })).data.find((row) => row.id === key.id);
  expect(blocked).toMatchObject({ state: "blocked_by_limit", left_usd: "0.000000000" });
  expect(blocked?.resets_at).toMatch(/-01T00:00:00.000Z$/);
  expect((await gateway.chat(customer, ask("again"))).status).toBe(403);
  const turnedAway = await owner.app("GET /orgs/{org}/keys/{key}/refusals", params, undefined, "?range=24h");
  const limited = turnedAway.codes.find(({ code }) => code === "key_spend_limit_reached");
  expect(limited?.counts.filter((count) => count > 0)).toEqual([1]);
  expect(limited?.counts).toHaveLength(turnedAway.at.length);
  expect(turnedAway.refused).toBe(turnedAway.codes.reduce((sum, { requests }) => sum + requests, 0));
  expect(turnedAway.refusals.find(({ code }) => code === limited?.code)).toMatchObject({
    key: { id: key.id },
    requests: 1,
  });
  await edit(owner, "PATCH /orgs/{org}/keys/{key}", params, { limit_usd: null });
  expect((await gateway.chat(customer, ask("again"))).status).toBe(200);
  const successor = await developer.app("POST /orgs/{org}/keys/{key}/replace", params);
  expect(successor).toMatchObject({ name: "Dora's key", replaces: key.id, state: "active" });
  const heir = await owner.app("GET /orgs/{org}/keys/{key}", { org, key: successor.id });
  expect(heir).toMatchObject({
    replaces: { id: key.id, name: "Dora's key" },
    replaced_by: null,
    last_day: [],
  });
  expect((await gateway.chat(customer, ask("both work"))).status).toBe(200);
  const revoked = await developer.app("POST /orgs/{org}/keys/{key}/revoke", params);
  expect(revoked).toMatchObject({ state: "revoked", status: "revoked" });
  expect((await gateway.chat(customer, ask("too late"))).status).toBe(401);
  const mine = await owner.app("GET /orgs/{org}/keys/{key}", params);
  expect(mine).toMatchObject({ replaces: null, replaced_by: { id: successor.id } });
  expect(mine.replaced_by?.last_four).toBe(successor.secret?.slice(-4) ?? "none");
  expect(mine.last_day).toEqual([expect.objectContaining({ model: "plain-1", requests: 3 })]);
});

test("the playground spends by a chosen key, whole and streamed, and never shows a secret", async () => {
  const created = await developer.app("POST /orgs/{org}/keys", { org }, { name: "Playground" });
  const quoted = await developer.app(
    "POST /orgs/{org}/playground/quote",
    { org },
    { key: created.id, request: ask("How are you?") },
  );
  expect(quoted).toMatchObject({ admissible: true });
  const whole = await developer.try(
    "POST /orgs/{org}/playground",
    { org },
    { key: created.id, request: ask("How are you?") },
  );
  expect(whole.status).toBe(200);
  expect(whole.json as unknown).toMatchObject({
    object: "chat.completion",
    gateway: { public_model: "plain-1" },
  });
  const stream = await developer.try(
    "POST /orgs/{org}/playground",
    { org },
    { key: created.id, request: ask("Count", { stream: true }) },
  );
  expect(stream.headers.get("content-type")).toStartWith("text/event-stream");
  expect(stream.text).toEndWith("data: [DONE]\n\n");
  const foreign = await gateway.customer();
  const other = await developer.try(
    "POST /orgs/{org}/playground",
    { org },
    { key: foreign.keyId, request: ask("x") },
  );
  expect(other.status).toBe(404);
});

test("the live tail sends a request as it happens", async () => {
  const created = await developer.app("POST /orgs/{org}/keys", { org }, { name: "Tail" });
  const response = await fetch(`${gateway.url}/app/v1/orgs/${org}/activity/tail`, {
    headers: { cookie: owner.cookie },
  });
  expect(response.headers.get("content-type")).toStartWith("text/event-stream");
  const reader = response.body?.getReader();
  await gateway.chat(
    { organizationId: org, keyId: created.id, secret: created.secret ?? "" },
    ask("tail me"),
  );
  let text = "";
  while (!text.includes('"Tail"')) text += new TextDecoder().decode((await reader?.read())?.value);
  expect(text).toContain("event: row");
  await reader?.cancel();
});

test("the live tail keeps to the filter, and after a lost connection sends what was missed", async () => {
  const named = async (name: string): Promise<Customer> => {
    const { id, secret } = await developer.app("POST /orgs/{org}/keys", { org }, { name });
    return { organizationId: org, keyId: id, secret: secret ?? "" };
  };
  const [mine, other] = [await named("Mine"), await named("Other")];
  const follow = async (headers: Record<string, string> = {}) => {
    const address = `${gateway.url}/app/v1/orgs/${org}/activity/tail?key=${mine.keyId}`;
    const { body } = await fetch(address, { headers: { cookie: owner.cookie, ...headers } });
    return { reader: body?.getReader(), text: "" };
  };
  type Tail = Awaited<ReturnType<typeof follow>>;
  const until = async (tail: Tail, count: number): Promise<string[]> => {
    const ids = () => [...tail.text.matchAll(/^id: (req_\w+)$/gm)].map(([, id = ""]) => id);
    while (new Set(ids()).size < count)
      tail.text += new TextDecoder().decode((await tail.reader?.read())?.value);
    return [...new Set(ids())];
  };
  await gateway.chat(mine, ask("before anybody looks"));
  const first = await follow();
  await until(first, 0);
  await first.reader?.read();
  await gateway.chat(other, ask("of another key"));
  await gateway.chat(mine, ask("seen"));
  const [seen = ""] = await until(first, 1);
  expect(first.text).not.toContain('"Other"');
  await first.reader?.cancel();
  await gateway.chat(mine, ask("missed"));
  const again = await follow({ "last-event-id": seen });
  const { data } = await owner.app("GET /orgs/{org}/activity", { org }, undefined, `?key=${mine.keyId}`);
  expect(data.map(({ id }) => id)).toContain(seen);
  expect(await until(again, 2)).toEqual([seen, data[0]?.id ?? ""]);
  await again.reader?.cancel();
});

test("the histogram counts the rows of the list, by state and for the same filter", async () => {
  gateway.simulator.behave({ behaviour: { ...PACED, reset_after_events: 9 }, calls: 1 });
  const made = await developer.app("POST /orgs/{org}/keys", { org }, { name: "Broken off" });
  const caller = { organizationId: org, keyId: made.id, secret: made.secret ?? "" };
  const { events } = await gateway.stream(caller, ask("broken off", { max_tokens: 300 }));
  expect(events.done).toBe(false);
  const cut = await owner.app("GET /orgs/{org}/activity", { org }, undefined, "?state=cut_short");
  expect(cut.data.map(({ id, state }) => [id, state])).toEqual([[gatewayOf(events).request_id, "cut_short"]]);
  for (const filter of [
    "",
    "&state=refused",
    "&state=settled",
    "&state=cut_short",
    `&key=${key.id}`,
    "&code=integer_below_min_value",
  ]) {
    const query = `?range=24h${filter}`;
    const { data } = await owner.app("GET /orgs/{org}/activity", { org }, undefined, `${query}&limit=200`);
    const histogram = await owner.app("GET /orgs/{org}/activity/histogram", { org }, undefined, query);
    const counted = histogram.states.flatMap(({ state, counts }) => {
      const sum = counts.reduce((total, one) => total + one, 0);
      return sum === 0 ? [] : [[state, sum]];
    });
    const listed = Map.groupBy(data, ({ state }) => state);
    expect(data.length).toBeGreaterThan(0);
    expect(Object.fromEntries(counted)).toEqual(
      Object.fromEntries([...listed].map(([state, rows]) => [state, rows.length])),
    );
    expect(histogram.at).toContain(histogram.running_bucket ?? "");
  }
});

test("an Idempotency-Key finds the request that was paid, its replays, and what was refused with it", async () => {
  const { id, secret } = await developer.app("POST /orgs/{org}/keys", { org }, { name: "Searched" });
  const caller = { organizationId: org, keyId: id, secret: secret ?? "" };
  const [paid, refused] = ["search-paid-1", "search-refused-1"];
  for (const _ of [1, 2]) await gateway.chat(caller, ask("once"), { "idempotency-key": paid });
  await gateway.chat(caller, ask("never", { max_tokens: 0 }), { "idempotency-key": refused });
  const states = async (key: string): Promise<string[]> =>
    (await owner.app("GET /orgs/{org}/activity", { org }, undefined, `?find=${key}`)).data.map(
      ({ state }) => state,
    );
  expect(await states(paid)).toEqual(["replay", "settled"]);
  expect(await states(refused)).toEqual(["refused"]);
});

test("CSV carries the filter, exact money, and no formulas", async () => {
  await owner.app("POST /orgs/{org}/keys", { org }, { name: "=HYPERLINK(1)" });
  const usage = await owner.send("GET", `/app/v1/orgs/${org}/usage.csv?group_by=model&range=7d`);
  expect(usage.headers.get("content-disposition")).toContain(`usage-${org}`);
  expect(usage.text.split("\r\n")[0]).toBe(
    "hour_utc,model,charged_requests,input_tokens,cached_tokens,cache_write_tokens,output_tokens,charge_usd",
  );
  const ledger = await owner.send("GET", `/app/v1/orgs/${org}/billing/ledger.csv`);
  const statement = await owner.app("GET /orgs/{org}/billing/ledger", { org });
  expect(ledger.text.trim().split("\r\n")).toHaveLength(statement.data.length + 1);
  const audit = await owner.send("GET", `/app/v1/orgs/${org}/audit.csv`);
  expect(audit.text).not.toMatch(/,=HYPERLINK/);
});

test("every change is in the audit log with who did it; a developer sees their own, secrets never", async () => {
  const all = await owner.try("GET /orgs/{org}/audit", { org }, undefined, { query: "?limit=200" });
  const { data } = all.json as unknown as AppAnswer<"GET /orgs/{org}/audit">;
  const actions = new Set(data.map(({ action }) => action));
  for (const action of ["key.create", "key.limit", "key.revoke", "member.join", "credits.purchase"])
    expect(actions).toContain(action);
  expect(all.text).not.toContain(customer.secret);
  const own = (await developer.app("GET /orgs/{org}/audit", { org })).data;
  expect(own.length).toBeGreaterThan(0);
  expect(new Set(own.map(({ actor }) => actor.name))).toEqual(new Set(["dora"]));
});

test("the platform: health, providers, ledger audit with no drift", async () => {
  const health = await root.app("GET /operator/health");
  expect(health).toMatchObject({ ready: true, holds_open: 0, outcomes_unknown: 0 });
  const [provider] = (await root.app("GET /operator/providers")).data;
  expect(provider).toMatchObject({ name: "simulator", running: 0 });
  const report = await root.app("POST /operator/ledger/audit");
  expect(report).toMatchObject({
    ok: true,
    drift_usd: "0.000000000",
    holds_past_deadline: 0,
    violations: [],
  });
});
