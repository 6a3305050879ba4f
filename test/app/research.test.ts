// Research Mode with two people: the requester never decides; an approval opens one model for research keys, until it
// ends.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { AppAnswer } from "../../src/api/client.ts";
import { Browser, firstOperator, newMember, PASSWORD, tokenOf } from "../support/browser.ts";
import type { ErrorJson } from "../support/events.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";
import { PLAIN, RESEARCH } from "../support/models.ts";

const DAY_MS = 86_400_000;

let gateway: TestGateway;
let root: Browser;
let second: Browser;
let researcher: Browser;
let org: string;

beforeAll(async () => {
  gateway = await startGateway();
  root = await firstOperator(gateway);
  org = (await root.app("POST /operator/organizations", {}, { name: "Lab" })).id;
  const grant = { org, amount_usd: "5", kind: "purchase", reference: "lab", reason: "test" };
  await root.app("POST /operator/credits", {}, grant);
  researcher = await newMember(root, gateway, { org, role: "developer", email: "rita@example.com" });
  const { link } = await root.app("POST /operator/people", {}, { email: "second@example.com" });
  second = new Browser(gateway.url);
  await second.app(
    "POST /invitations/accept",
    {},
    {
      token: tokenOf(link),
      account: { name: "Second", password: PASSWORD },
    },
  );
});
afterAll(() => gateway.stop());

const dayIn = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
const tomorrow = () => new Date(Date.now() + 86_400_000).toISOString();
const asked = { model: RESEARCH.model, project: "Folding", purpose: "A paper", until: dayIn(40) };
const ask = (browser: Browser): Promise<AppAnswer<"POST /orgs/{org}/research">> =>
  browser.app("POST /orgs/{org}/research", { org }, asked);
const complete = async (key: { id: string; secret: string | null }): Promise<number> =>
  (
    await gateway.chat(
      { organizationId: org, keyId: key.id, secret: key.secret ?? "" },
      { model: RESEARCH.model, messages: [{ role: "user", content: "hi" }], max_tokens: 8 },
    )
  ).status;

test("a researcher requests, an operator approves, a research key works and a standard one does not", async () => {
  const research = await researcher.app("POST /orgs/{org}/keys", { org }, { name: "R", scope: "research" });
  const standard = await researcher.app("POST /orgs/{org}/keys", { org }, { name: "S" });
  expect(await complete(research)).toBe(403);
  const wish = await ask(researcher);
  expect(wish).toMatchObject({ state: "requested", purpose: "A paper", asked_by: { name: "rita" } });
  const [queued] = (await second.app("GET /operator/entitlements", {}, undefined, "?state=requested")).data;
  expect(queued).toMatchObject({ id: wish.id, org_name: "Lab", decidable: true });
  const approved = await second.app(
    "POST /operator/entitlements/{entitlement}/approve",
    { entitlement: wish.id },
    { expires: tomorrow(), note: "one paper" },
  );
  expect(approved).toMatchObject({ state: "active", decided_by: { name: "Second" }, note: "one paper" });
  expect(await complete(research)).toBe(200);
  expect(await complete(standard)).toBe(403);
  const model = (await researcher.app("GET /orgs/{org}/models", { org })).data.find(
    ({ id }) => id === RESEARCH.model,
  );
  expect(model?.access).toBe("open");
  const [shown] = (await researcher.app("GET /orgs/{org}/research", { org })).data;
  expect(shown?.spend_usd).not.toBe("0.000000000");
  const revoke = { reason: "finished" };
  await second.app("POST /operator/entitlements/{entitlement}/revoke", { entitlement: wish.id }, revoke);
  expect(await complete(research)).toBe(403);
});

test("the spend of an entitlement begins with its approval and ends with it", async () => {
  const { id, secret } = await researcher.app(
    "POST /orgs/{org}/keys",
    { org },
    { name: "R", scope: "research" },
  );
  const approve = async (): Promise<string> => {
    const { id: entitlement } = await ask(researcher);
    await second.app(
      "POST /operator/entitlements/{entitlement}/approve",
      { entitlement },
      { expires: tomorrow() },
    );
    return entitlement;
  };
  const revoke = (entitlement: string) =>
    second.app("POST /operator/entitlements/{entitlement}/revoke", { entitlement }, { reason: "finished" });
  const spendOf = async (entitlement: string): Promise<string | undefined> =>
    (await researcher.app("GET /orgs/{org}/research", { org })).data.find((row) => row.id === entitlement)
      ?.spend_usd;
  const nothing = "0.000000000";
  const earlier = await approve();
  expect(await spendOf(earlier)).toBe(nothing);
  expect(await complete({ id, secret })).toBe(200);
  const spent = await spendOf(earlier);
  expect(spent).not.toBe(nothing);
  await revoke(earlier);
  const waiting = (await ask(researcher)).id;
  expect(await spendOf(waiting)).toBe(nothing);
  const later = await approve();
  expect(await spendOf(later)).toBe(nothing);
  expect(await complete({ id, secret })).toBe(200);
  expect([await spendOf(earlier), await spendOf(later), await spendOf(waiting)]).toEqual([
    spent,
    spent,
    nothing,
  ]);
  // Over whole hours the roll-up answers; both ways count the same.
  const all = (
    await researcher.app("GET /orgs/{org}/usage", { org }, undefined, `?range=24h&model=${RESEARCH.model}`)
  ).total;
  await gateway.tamper("UPDATE entitlement SET approved_at = approved_at - 7200000 WHERE id = ?1", later);
  expect(await spendOf(later)).toBe(all.charge_usd);
  await revoke(later);
});

test("a past day cannot be requested", async () => {
  for (const until of ["2020-01-01", new Date(Date.now() - 1000).toISOString()]) {
    const refused = await researcher.try("POST /orgs/{org}/research", { org }, { ...asked, until });
    expect([refused.status, refused.json.error]).toMatchObject([
      400,
      { code: "invalid_request", param: "until", message: "until must be in the future." },
    ]);
  }
});

test("an operator who made the request cannot decide; another one can", async () => {
  const token = (
    await root.app(
      "POST /operator/organizations/{org}/invitations",
      { org },
      { email: "root@example.com", role: "admin" },
    )
  ).link;
  await root.app("POST /invitations/accept", {}, { token: tokenOf(token) });
  const own = await ask(root);
  for (const [route, body] of [
    ["POST /operator/entitlements/{entitlement}/approve", { expires: tomorrow() }],
    ["POST /operator/entitlements/{entitlement}/decline", { reason: "no" }],
  ] as const) {
    const answer = await root.try(route, { entitlement: own.id }, body);
    expect([answer.status, answer.json.error.code]).toEqual([403, "second_person_required"]);
  }
  const declined = await second.app(
    "POST /operator/entitlements/{entitlement}/decline",
    { entitlement: own.id },
    { reason: "not now" },
  );
  expect(declined).toMatchObject({ state: "declined", note: "not now" });
  const late = await second.try(
    "POST /operator/entitlements/{entitlement}/approve",
    { entitlement: own.id },
    { expires: tomorrow() },
  );
  expect(late.status).toBe(409);
});

test("the requester may withdraw, once", async () => {
  const wish = await ask(researcher);
  const withdrawn = await researcher.app("POST /orgs/{org}/research/{entitlement}/withdraw", {
    org,
    entitlement: wish.id,
  });
  expect(withdrawn.state).toBe("withdrawn");
  expect(
    (await researcher.try("POST /orgs/{org}/research/{entitlement}/withdraw", { org, entitlement: wish.id }))
      .status,
  ).toBe(409);
});

test("at each door only a model that a release offers as research takes an entitlement; a slip leaves none", async () => {
  const doors = {
    session: async (model: string) =>
      await researcher.try("POST /orgs/{org}/research", { org }, { ...asked, model }),
    "management key": (model: string) =>
      gateway.admin<ErrorJson>("POST", "/entitlements", { org, model, project: "P" }),
  };
  const before = (await gateway.rowsOf("entitlement")).length;
  for (const [door, knock] of Object.entries(doors))
    for (const [model, status, code] of [
      [PLAIN.model, 400, "invalid_request"],
      [`${RESEARCH.model}0`, 404, "not_found"],
    ] as const) {
      const refused = await knock(model);
      expect([door, refused.status, refused.json.error]).toMatchObject([
        door,
        status,
        { code, param: "model", message: expect.stringContaining(JSON.stringify(model)) },
      ]);
    }
  expect(await gateway.rowsOf("entitlement")).toHaveLength(before);
});

test("of a concurrent withdrawal, refusal and approval one is done, and it stays", async () => {
  for (let n = 0; n < 10; n += 1) {
    const { id } = await ask(researcher);
    const entitlement = { entitlement: id };
    const reason = { reason: "too late" };
    const done = await Promise.all([
      researcher.try("POST /orgs/{org}/research/{entitlement}/withdraw", { org, entitlement: id }),
      second.try("POST /operator/entitlements/{entitlement}/decline", entitlement, reason),
      second.try("POST /operator/entitlements/{entitlement}/approve", entitlement, { expires: tomorrow() }),
    ]);
    const states = (["withdrawn", "declined", "active"] as const).filter(
      (_, index) => done[index]?.status === 200,
    );
    expect(states).toHaveLength(1);
    const now = (await researcher.app("GET /orgs/{org}/research", { org })).data.find((row) => row.id === id);
    expect([now?.state]).toEqual(states);
    if (states[0] === "active")
      await second.app("POST /operator/entitlements/{entitlement}/revoke", entitlement, reason);
  }
});

test("what has ended is not ended again: who declined, withdrew or revoked it, and why, does not change", async () => {
  const revoke = (entitlement: string) =>
    root.try(
      "POST /operator/entitlements/{entitlement}/revoke",
      { entitlement },
      { reason: "second thought" },
    );
  const shown = async (id: string): Promise<unknown[]> => {
    const row = (await researcher.app("GET /orgs/{org}/research", { org })).data.find((one) => one.id === id);
    return [row?.state, row?.note, row?.decided_by?.name];
  };
  const [declined, withdrawn, revoked] = [
    (await ask(researcher)).id,
    (await ask(researcher)).id,
    (await ask(researcher)).id,
  ];
  const entitlement = { entitlement: declined };
  await second.app("POST /operator/entitlements/{entitlement}/decline", entitlement, { reason: "no budget" });
  await researcher.app("POST /orgs/{org}/research/{entitlement}/withdraw", { org, entitlement: withdrawn });
  await second.app(
    "POST /operator/entitlements/{entitlement}/approve",
    { entitlement: revoked },
    { expires: tomorrow() },
  );
  await second.app(
    "POST /operator/entitlements/{entitlement}/revoke",
    { entitlement: revoked },
    { reason: "done" },
  );
  for (const [id, as] of [
    [declined, ["declined", "no budget", "Second"]],
    [withdrawn, ["withdrawn", null, "rita"]],
    [revoked, ["revoked", "done", "Second"]],
  ] as const) {
    expect(await shown(id)).toEqual([...as]);
    expect((await revoke(id)).status).toBe(409);
    expect(await shown(id)).toEqual([...as]);
  }
});

test("an organization may have only so many open requests; the refusal says what to do, and leaves nothing", async () => {
  const { id: org } = await root.app("POST /operator/organizations", {}, { name: "Eager" });
  const eager = await newMember(root, gateway, { org, role: "developer", email: "eager@example.com" });
  const wish = (): ReturnType<Browser["try"]> => eager.try("POST /orgs/{org}/research", { org }, asked);
  for (let n = 0; n < 20; n += 1) expect((await wish()).status).toBeLessThan(300);
  const notes = (await gateway.rowsOf("entitlement_note")).length;
  const refused = await wish();
  expect([refused.status, refused.json.error.code]).toEqual([409, "conflict"]);
  expect(refused.json.error.message).toContain("Withdraw one");
  expect(await gateway.rowsOf("entitlement_note")).toHaveLength(notes);
  const [first] = (await eager.app("GET /orgs/{org}/research", { org })).data;
  const withdrawn = { org, entitlement: first?.id ?? "" };
  expect((await eager.app("POST /orgs/{org}/research/{entitlement}/withdraw", withdrawn)).state).toBe(
    "withdrawn",
  );
  expect((await wish()).status).toBeLessThan(300);
  const byKey = await gateway.admin("POST", "/entitlements", { org, model: RESEARCH.model, project: "P" });
  expect(byKey.status).toBe(409);
});

test("routes: a signed file is checked before it is published, a route is closed with a reason", async () => {
  const [route] = (await root.app("GET /operator/routes")).data.filter(({ model }) => model === PLAIN.model);
  const closed = await root.app(
    "POST /operator/routes/disable",
    {},
    { route: route?.route, reason: "bad answers" },
  );
  expect(closed).toMatchObject({ state: "disabled", reason: "bad answers" });
  expect((await root.app("POST /operator/routes/enable", {}, { route: route?.route })).state).not.toBe(
    "disabled",
  );
  const bad = await root.try("POST /operator/releases/verify", {}, { jws: "not.a.jws" });
  expect([bad.status, bad.json.error]).toMatchObject([422, { code: "release_refused", step: "signature" }]);
  const pricing = {
    ...PLAIN.pricing,
    output_per_million: "3",
    cache_write_per_million: "2.5",
    service_tiers: { flex: "0.5" },
  };
  // It expires later than the first, in whichever second that was signed: a release's times are whole seconds.
  const jws = await gateway.sign({ ...PLAIN, version: 2, pricing }, { expiresInMs: 31 * DAY_MS });
  const verified = await root.app("POST /operator/releases/verify", {}, { jws });
  expect(verified.prices).toContainEqual({
    price: "output_per_million",
    above_prompt_tokens: null,
    before: "2",
    after: "3",
    percent: "+50.0",
  });
  expect(verified.prices).toContainEqual({
    price: "cache_write_per_million",
    above_prompt_tokens: null,
    before: "2",
    after: "2.5",
    percent: "+25.0",
  });
  expect(verified.prices).toContainEqual({
    price: "service_tiers.flex",
    above_prompt_tokens: null,
    before: "1",
    after: "0.5",
    percent: "-50.0",
  });
  expect(verified.changes.map(({ field }) => field)).toEqual(["expires_at", "version"]);
  expect(verified.use).toMatchObject({ model: PLAIN.model });
  expect(
    (await root.app("GET /operator/routes")).data.find(({ model }) => model === PLAIN.model)?.version,
  ).toBe(1);
  expect((await root.app("POST /operator/releases", {}, { jws })).version).toBe(2);
  const again = await root.try("POST /operator/releases/verify", {}, { jws });
  expect([again.status, again.json.error]).toMatchObject([422, { step: "version" }]);
  const old = await gateway.sign({ ...PLAIN, version: 3 }, { expiresInMs: 1000, nowMs: Date.now() - 60_000 });
  for (const where of ["POST /operator/releases/verify", "POST /operator/releases"] as const) {
    const expired = await root.try(where, {}, { jws: old });
    expect([where, expired.status, expired.json.error]).toMatchObject([where, 422, { step: "expiry" }]);
  }
  const history = await root.app(
    "GET /operator/releases",
    {},
    undefined,
    `?route=${encodeURIComponent(route?.route ?? "")}`,
  );
  expect(history.data.map(({ version }) => version)).toEqual([2, 1]);
  expect(history.data.map(({ published_by }) => published_by?.name)).toEqual(["Root", null]);
});
