// Specification 4, 5, 7 and 9 at the edges of HTTP: HEAD and OPTIONS, origins, media types with parameters, trailing
// slashes, empty bodies, and that every answer has exactly one request id.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { ErrorJson } from "../support/events.ts";
import { type Customer, hello, STORES, startGateway, type TestGateway } from "../support/gateway.ts";

const ORIGIN = "https://app.example.com";
const GETS = ["/v1/models", "/v1/models/base-preview-v1", "/v1/key", "/v1/credits"];
const POSTS = ["/v1/chat/completions", "/v1/responses", "/v1/messages", "/v1/completions", "/v1/embeddings"];

describe.each(STORES)("on %s", (store) => {
  let gateway: TestGateway;
  let customer: Customer;
  beforeAll(async () => {
    gateway = await startGateway({ store, configure: (config) => (config.cors.origins = [ORIGIN]) });
    customer = await gateway.customer();
  });
  afterAll(async () => {
    expect(await gateway.rowsOf("request")).toHaveLength(served);
    await gateway.assertSound();
    await gateway.stop();
  });
  let served = 0;

  const call = (method: string, path: string, init: RequestInit = {}): Promise<Response> => {
    const headers = new Headers(init.headers);
    if (!headers.has("authorization")) headers.set("authorization", `Bearer ${customer.secret}`);
    return fetch(`${gateway.url}${path}`, { ...init, method, headers });
  };
  const idOf = (reply: Response): string => {
    const id = reply.headers.get("x-request-id") ?? "none";
    expect(id).toMatch(/^req_[0-9a-f]{32}$/);
    return id;
  };

  test.each(GETS)("HEAD of %s has the status and headers of its GET, and no body", async (path) => {
    const [get, head] = [await call("GET", path), await call("HEAD", path)];
    expect([head.status, await head.text()]).toEqual([get.status, ""]);
    for (const name of ["content-type", "cache-control"])
      expect([name, head.headers.get(name)]).toEqual([name, get.headers.get(name)]);
    expect(idOf(head)).not.toBe(idOf(get));
    const none = await call("HEAD", path, { headers: { authorization: "Bearer gw_sk_x" } });
    expect([none.status, await none.text()]).toEqual([401, ""]);
    idOf(none);
  });

  test.each(POSTS)("HEAD and GET of %s are 405 and say what is allowed; nothing is charged", async (path) => {
    for (const method of ["HEAD", "GET", "PUT", "DELETE", "PATCH"]) {
      const reply = await call(method, path);
      expect([method, reply.status]).toEqual([method, 405]);
      expect(reply.headers.get("allow")).toContain("POST");
      const id = idOf(reply);
      if (method === "HEAD") expect(await reply.text()).toBe("");
      else expect(JSON.stringify(await reply.json())).toContain(`"${id}"`);
    }
  });

  test.each([...GETS, ...POSTS])("OPTIONS of %s needs no key and says what is allowed", async (path) => {
    const reply = await fetch(`${gateway.url}${path}`, { method: "OPTIONS" });
    expect([reply.status, await reply.text()]).toEqual([204, ""]);
    expect(reply.headers.get("allow")).toContain(GETS.includes(path) ? "GET" : "POST");
    expect(reply.headers.get("access-control-allow-origin")).toBeNull();
    idOf(reply);
  });

  test.each(POSTS)(
    "a page of an allowed origin can read every refusal of %s, another one none",
    async (path) => {
      const asked = {
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization",
      };
      const preflight = await fetch(`${gateway.url}${path}`, {
        method: "OPTIONS",
        headers: { origin: ORIGIN, ...asked },
      });
      expect([preflight.status, preflight.headers.get("access-control-allow-origin")]).toEqual([204, ORIGIN]);
      expect(preflight.headers.get("access-control-allow-credentials")).toBeNull();
      expect((preflight.headers.get("access-control-allow-headers") ?? "").toLowerCase()).toContain(
        "idempotency-key",
      );
      for (const [origin, allowed] of [
        [ORIGIN, ORIGIN],
        ["https://app.example.com.evil.example", null],
        ["null", null],
        [`${ORIGIN}:8443`, null],
      ] as const)
        for (const body of [undefined, "{"]) {
          const headers = { origin, "content-type": "application/json" };
          const reply = await call("POST", path, { headers, ...(body !== undefined && { body }) });
          expect(reply.status).toBeGreaterThanOrEqual(400);
          expect(reply.headers.get("access-control-allow-origin")).toBe(allowed);
          expect(reply.headers.get("vary") ?? "").toMatch(/origin/i);
          const exposed = (reply.headers.get("access-control-expose-headers") ?? "").toLowerCase();
          expect(exposed.includes("x-request-id")).toBe(allowed !== null);
        }
    },
  );

  test("a trailing slash, and doubled ones, are the same path, for every method", async () => {
    for (const path of GETS) {
      const [plain, slash] = [await call("GET", path), await call("GET", `${path}/`)];
      expect([path, slash.status, await slash.text()]).toEqual([path, plain.status, await plain.text()]);
    }
    const reply = await call("POST", "/v1//chat/completions/", {
      body: JSON.stringify(hello()),
      headers: { "content-type": "application/json" },
    });
    served += 1;
    expect([reply.status, reply.redirected]).toEqual([200, false]);
  });

  test.each(POSTS)("a body of nothing at %s is refused as what it is", async (path) => {
    const json = { "content-type": "application/json; charset=utf-8" };
    const BODIES: [
      body: string | undefined,
      headers: Record<string, string>,
      status: number,
      code: string,
    ][] = [
      [undefined, {}, 415, "unsupported_media_type"],
      [undefined, json, 400, "invalid_json"],
      ["", json, 400, "invalid_json"],
      [" \n", json, 400, "invalid_json"],
      ["\ufeff", json, 400, "invalid_json"],
      ["null", json, 400, "invalid_request"],
      ["[]", json, 400, "invalid_request"],
      ['"text"', json, 400, "invalid_request"],
      ["0", json, 400, "invalid_request"],
      ["{}", json, 400, "invalid_request"],
      ["{}{}", json, 400, "invalid_json"],
      ["{}", { "content-type": "application/json; charset=iso-8859-1" }, 415, "unsupported_media_type"],
      ["{}", { "content-type": "application/jsonp" }, 415, "unsupported_media_type"],
      ["{}", { "content-type": "application/vnd.api+json" }, 415, "unsupported_media_type"],
    ];
    for (const [body, headers, status, code] of BODIES) {
      const reply = await call("POST", path, { headers, ...(body !== undefined && { body }) });
      const text = await reply.text();
      const { error, request_id } = JSON.parse(text) as ErrorJson & { request_id?: string };
      expect({ body, headers, status: reply.status, code: error.code }).toEqual({
        body,
        headers,
        status,
        code,
      });
      expect(error.request_id ?? request_id ?? "none").toBe(idOf(reply));
      expect(reply.headers.get("content-type")).toStartWith("application/json");
    }
  });

  test("the bearer scheme is case-insensitive; anything but a single token is no key", async () => {
    for (const scheme of ["bearer", "BEARER", "BeArEr"])
      expect(
        (await call("GET", "/v1/key", { headers: { authorization: `${scheme} ${customer.secret}` } })).status,
      ).toBe(200);
    for (const authorization of [
      customer.secret,
      `Basic ${btoa(`x:${customer.secret}`)}`,
      `Bearer ${customer.secret} x`,
      `Bearer "${customer.secret}"`,
      `Bearer ${customer.secret.toUpperCase()}`,
      `Bearer ${customer.secret.slice(0, -1)}`,
      `Bearer ${customer.secret}x`,
      `Bearer ${customer.secret.replace("gw_sk_", "sk_")}`,
    ]) {
      const reply = await call("GET", "/v1/key", { headers: { authorization } });
      const { error } = (await reply.json()) as ErrorJson;
      expect([authorization, reply.status, error.code]).toEqual([authorization, 401, "invalid_api_key"]);
      expect(JSON.stringify(error)).not.toContain(customer.secret.slice(20));
    }
  });

  test.each(["/v2/models", "/models", "/chat/completions", "/v1/v1/models", "/V1/models", "/v1"])(
    "%s is no place of version 1, and says where that is",
    async (path) => {
      const reply = await call("GET", path, { headers: { accept: "application/json" } });
      const { error } = (await reply.json()) as ErrorJson;
      expect([reply.status, error.code, error.request_id]).toEqual([404, "unknown_url", idOf(reply)]);
      expect(error.message).toContain("/v1");
    },
  );
});
