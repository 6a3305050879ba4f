// Rate limits over HTTP: set through the operator's API and the dashboard's, refused with a time to retry, reported
// in headers (wire.md §6). What they admit is tested on the ledger (`test/ledger/rate-limits.ts`).
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { RateLimitJson } from "../../src/api/shapes/rate-limits.ts";
import { type Browser, firstOperator, newMember, operatorJoins } from "../support/browser.ts";
import type { ErrorJson } from "../support/events.ts";
import { type Customer, hello, type Reply, startGateway, type TestGateway } from "../support/gateway.ts";

let gateway: TestGateway;
let operator: Browser;
beforeAll(async () => {
  gateway = await startGateway({
    configure: (config) => {
      config.headers.rateLimit = true;
      config.signIn.perMinute = 1000;
    },
  });
  operator = await firstOperator(gateway);
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
});

const set = (limits: object): Promise<Reply<RateLimitJson & ErrorJson>> =>
  gateway.admin("POST", "/limits", limits);
const chat = (customer: Customer, body: unknown = hello()): Promise<Reply<ErrorJson>> =>
  gateway.chat<ErrorJson>(customer, body);

test("429 names whose limit it is, of what, how much and when to retry; 200 and 429 report what is left", async () => {
  const customer = await gateway.customer();
  await set({ key: customer.keyId, requests_per_minute: 2, tokens_per_minute: 100_000 });
  await set({ org: customer.organizationId, requests_per_minute: 600 });
  const beganMs = performance.now();
  /** Half a minute, less what has passed meanwhile. */
  const isNext = (seconds: string | null | undefined): void => {
    expect(Number(seconds)).toBeLessThanOrEqual(30);
    expect(Number(seconds)).toBeGreaterThanOrEqual(30 - Math.ceil((performance.now() - beganMs) / 1000));
  };
  const { headers } = await chat(customer);
  expect(headers.get("x-ratelimit-limit-requests")).toBe("2");
  expect(headers.get("x-ratelimit-remaining-requests")).toBe("1");
  isNext(/^(\d+)s$/.exec(headers.get("x-ratelimit-reset-requests") ?? "")?.[1]);
  expect(headers.get("x-ratelimit-limit-tokens")).toBe("100000");
  expect(Number(headers.get("x-ratelimit-remaining-tokens"))).toBeLessThan(100_000);
  expect(headers.get("ratelimit-policy")).toBe(
    '"organization-requests";q=600;w=60, "key-requests";q=2;w=60, "key-tokens";q=100000;w=60',
  );
  const left = /^"organization-requests";r=599;t=1, "key-requests";r=1;t=(\d+), /;
  isNext(left.exec(headers.get("ratelimit") ?? "")?.[1]);
  await chat(customer);
  const refused = await chat(customer);
  expect([refused.status, refused.json.error.code, refused.json.error.type]).toEqual([
    429,
    "rate_limit_exceeded",
    "requests",
  ]);
  const after = refused.headers.get("retry-after");
  isNext(after);
  expect(refused.json.error.message).toBe(
    `This key may send 2 requests per minute. Send the request again in ${after} seconds.`,
  );
  expect(refused.json.error).toMatchObject({ details: { subject: "key", dimension: "requests", limit: 2 } });
  expect(refused.headers.get("x-should-retry")).toBe("true");
  expect(refused.headers.get("x-ratelimit-remaining-requests")).toBe("0");
});

test("without a limit nothing is reported", async () => {
  const { headers } = await chat(await gateway.customer());
  expect([...headers.keys()].filter((name) => name.includes("ratelimit"))).toEqual([]);
});

test("a prompt whose byte bound exceeds a minute's tokens is counted; if its count does, too, the caller is told to send fewer", async () => {
  const customer = await gateway.customer();
  const content = "counted ".repeat(1000);
  await set({ key: customer.keyId, tokens_per_minute: 3000 });
  const asked = { ...hello(), messages: [{ role: "user", content }], max_tokens: 10 };
  expect((await chat(customer, asked)).status).toBe(200);
  await set({ key: customer.keyId, tokens_per_minute: 900 });
  const { status, headers, json } = await chat(customer, asked);
  expect([status, json.error.code, json.error.type]).toEqual([429, "rate_limit_exceeded", "tokens"]);
  expect(headers.get("x-should-retry")).toBe("false");
  expect(headers.get("retry-after")).toBeNull();
  expect(json.error.message).toContain("may use 900 tokens per minute, and this request alone may use 10");
  const quote = await fetch(`${gateway.baseUrl}/chat/completions/quote`, {
    method: "POST",
    headers: { authorization: `Bearer ${customer.secret}`, "content-type": "application/json" },
    body: JSON.stringify(asked),
  });
  expect(await quote.json()).toMatchObject({ admissible: false, binding_limit: "tokens" });
});

describe("through the operator's API", () => {
  test.each<[object, number, string]>([
    [{ requests_per_minute: 0 }, 400, "requests_per_minute"],
    [{ requests_per_minute: -5 }, 400, "requests_per_minute"],
    [{ tokens_per_minute: 2 ** 53 - 1 }, 400, "tokens_per_minute"],
    [{ tokens_per_minute: 2 ** 53 }, 400, "beyond 2^53 - 1. Send a smaller number,"],
    [{ tokens_per_minute: 1.5 }, 400, "tokens_per_minute"],
    [{ concurrent: "5" }, 400, "concurrent"],
    [{ concurent: 5 }, 400, "concurent"],
    [{}, 400, "requests_per_minute"],
    [{ concurrent: 5, model: "no-such-model" }, 404, "no-such-model"],
    [{ concurrent: 5, key: "key_000000000000" }, 404, "record"],
    [{ concurrent: 5, org: "org_000000000000" }, 404, "org"],
  ])("%p is refused with %d, and names what is wrong", async (limits, status, named) => {
    const { organizationId } = await gateway.customer();
    const reply = await set({ org: organizationId, ...limits });
    expect(reply.status).toBe(status);
    expect(JSON.stringify(reply.json.error)).toContain(named);
  });

  test("needs an organization, a key or a model; a revoked key is refused", async () => {
    expect((await set({ concurrent: 1 })).status).toBe(400);
    const { keyId } = await gateway.customer();
    await gateway.admin("POST", `/keys/${keyId}/revoke`);
    const { status, json } = await set({ key: keyId, concurrent: 1 });
    expect([status, json.error.message]).toEqual([
      409,
      "This key is revoked: its requests are refused whatever its limits. Name a key that is not revoked.",
    ]);
  });

  test("lists the limits of the subject itself, then those set within it", async () => {
    const { organizationId: org, keyId: key } = await gateway.customer();
    await set({ org, model: "plain-1", concurrent: 3 });
    await set({ key, model: "plain-1", tokens_per_minute: 500 });
    await set({ org, model: "plain-1", concurrent: null, requests_per_minute: 9 });
    const { json } = await gateway.admin<{ data: RateLimitJson[] }>("GET", `/limits?org=${org}`);
    expect(json.data.map(({ subject, in_force }) => [subject, in_force])).toEqual([
      ["organization", { requests_per_minute: null, tokens_per_minute: null, concurrent: null }],
      ["model", { requests_per_minute: 9, tokens_per_minute: null, concurrent: null }],
      ["key_model", { requests_per_minute: null, tokens_per_minute: 500, concurrent: null }],
    ]);
    const ofKey = await gateway.admin<{ data: RateLimitJson[] }>("GET", `/limits?key=${key}`);
    expect(ofKey.json.data.map(({ subject }) => subject)).toEqual(["key", "key_model"]);
  });
});

test("a model without any limit has a version, too: an admin limits it for the organization and for a key", async () => {
  const { organizationId: org, keyId: key } = await gateway.customer();
  const admin = await newMember(operator, gateway, { org, role: "admin", email: "models@example.com" });
  const model = "plain-1";
  const nothing = { requests_per_minute: null, tokens_per_minute: null, concurrent: null };
  for (const place of [{ model }, { key, model }] as Record<string, string>[]) {
    const query = `?${new URLSearchParams(place).toString()}`;
    const { data } = await admin.app("GET /orgs/{org}/limits", { org }, undefined, query);
    expect(data[0]).toMatchObject({ ...place, set: nothing, own: nothing, in_force: nothing });
    const change = { ...place, concurrent: 3, version: data[0]?.version ?? "" };
    const { status, json } = await admin.send<RateLimitJson>("PATCH", `/app/v1/orgs/${org}/limits`, change);
    expect([status, json.own.concurrent]).toEqual([200, 3]);
    const again = await admin.send("PATCH", `/app/v1/orgs/${org}/limits`, change);
    expect(again.status).toBe(409);
  }
  const ofModel = await gateway.admin<{ data: RateLimitJson[] }>("GET", `/limits?org=${org}&model=${model}`);
  expect(ofModel.json.data.map(({ subject }) => subject)).toEqual(["model", "key_model"]);
  const ofEach = await gateway.admin<{ data: RateLimitJson[] }>("GET", `/limits?model=${model}`);
  expect(ofEach.json.data).toMatchObject([{ subject: "model", org: null, model, set: nothing }]);
  const slip = await gateway.admin<ErrorJson>("GET", `/limits?org=${org}&model=no-such-model`);
  expect([slip.status, slip.json.error.message]).toEqual([
    404,
    'No release names the model "no-such-model".',
  ]);
});

test("a person who is operator and admin says which limit they set; by default the operator's, and nobody sets another's", async () => {
  const { organizationId: org } = await gateway.customer();
  const admin = await newMember(operator, gateway, { org, role: "admin", email: "one-hat@example.com" });
  await operatorJoins(operator, { org, role: "admin" });
  const said = async (by: Browser, word: Record<string, unknown>) => {
    const { data } = await by.app("GET /orgs/{org}/limits", { org });
    const change = { ...word, version: data[0]?.version };
    const { status, json } = await by.send<RateLimitJson & ErrorJson>(
      "PATCH",
      `/app/v1/orgs/${org}/limits`,
      change,
    );
    return status === 200 ? [json.set.concurrent, json.own.concurrent] : [status, json.error.param];
  };
  expect(await said(operator, { concurrent: 9 })).toEqual([9, null]);
  expect(await said(operator, { concurrent: 7, by: "organization" })).toEqual([9, 7]);
  expect(await said(operator, { concurrent: 8, by: "operator" })).toEqual([8, 7]);
  expect(await said(admin, { concurrent: 1, by: "operator" })).toEqual([403, "by"]);
  expect(await said(admin, { concurrent: 6 })).toEqual([8, 6]);
  const { data } = await admin.app("GET /orgs/{org}/team", { org });
  const member = data.find(({ email }) => email === "root@example.com")?.person.id ?? "";
  await admin.app("DELETE /orgs/{org}/team/{member}", { org, member });
  expect(await said(operator, { concurrent: 1, by: "organization" })).toEqual([403, "by"]);
  expect(await said(operator, { concurrent: 5 })).toEqual([5, 6]);
});

test("an admin sets a lower limit than the operator's, is told the maximum, and the audit log says who set what", async () => {
  const { organizationId: org, keyId } = await gateway.customer();
  const admin = await newMember(operator, gateway, { org, role: "admin", email: "limits@example.com" });
  await set({ org, requests_per_minute: 100 });
  const lower = async (by: Browser, limits: { key?: string; [dimension: string]: unknown }) => {
    const { key } = limits;
    const { data } = await by.app(
      "GET /orgs/{org}/limits",
      { org },
      undefined,
      key === undefined ? "" : `?key=${key}`,
    );
    return await by.send<RateLimitJson & ErrorJson>("PATCH", `/app/v1/orgs/${org}/limits`, {
      ...limits,
      version: data[0]?.version,
    });
  };
  const above = await lower(admin, { requests_per_minute: 101 });
  expect([above.status, above.json.error.param]).toEqual([409, "requests_per_minute"]);
  expect(above.json.error.message).toContain("The operator allows at most 100 here.");
  expect((await lower(admin, { requests_per_minute: 10 })).json.in_force.requests_per_minute).toBe(10);
  expect((await lower(operator, { requests_per_minute: 50 })).json).toMatchObject({
    set: { requests_per_minute: 50 },
    own: { requests_per_minute: 10 },
  });
  expect((await lower(admin, { requests_per_minute: null })).json.in_force.requests_per_minute).toBe(50);
  expect((await lower(admin, { key: keyId, concurrent: 2 })).json.subject).toBe("key");
  const stranger = await gateway.customer();
  const theirs = { key: stranger.keyId, concurrent: 2, version: "of another" };
  expect((await admin.send("PATCH", `/app/v1/orgs/${org}/limits`, theirs)).status).toBe(404);
  const { json } = await admin.send<{ data: { action: string; after: string }[] }>(
    "GET",
    `/app/v1/orgs/${org}/audit`,
  );
  const lines = json.data.filter(({ action }) => action === "limits.set");
  expect(lines).toHaveLength(5);
  expect(JSON.parse(lines[0]?.after ?? "{}")).toEqual({
    set_by: "organization",
    requests_per_minute: null,
    tokens_per_minute: null,
    concurrent: 2,
  });
});
