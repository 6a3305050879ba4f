// The bad-input table of the design, lines 1–70: framing, hosts, paths, methods, media types and invalid keys. Each
// line's number is in its name.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { ErrorJson } from "../support/events.ts";
import { type Customer, hello, startGateway, type TestGateway } from "../support/gateway.ts";
import { exchange, statusOf } from "../support/raw.ts";

let gateway: TestGateway;
let customer: Customer;
beforeAll(async () => {
  gateway = await startGateway({
    configure: (config) => {
      config.limits.bodyBytes = 1_000_000;
    },
  });
  customer = await gateway.customer();
});
afterAll(async () => {
  expect(gateway.simulator.bill().filter(({ outcome }) => outcome !== "finished")).toEqual([]);
  await gateway.assertSound();
  await gateway.stop();
});

const head = (...lines: string[]): string => `${lines.join("\r\n")}\r\n\r\n`;
const post = (...headers: string[]): string =>
  head("POST /v1/chat/completions HTTP/1.1", "Host: x", ...headers);
const get = (path: string, ...headers: string[]): string =>
  head(`GET ${path} HTTP/1.1`, "Host: x", ...headers);
const chunked = (): string =>
  post(
    `Authorization: Bearer ${customer.secret}`,
    "Content-Type: application/json",
    "Transfer-Encoding: chunked",
  );
const raw = (text: string, quietMs?: number): Promise<string> => exchange(gateway.url, text, quietMs);

describe("answered by the parser, before any handler", () => {
  test.each<[string, () => string, readonly number[]]>([
    [
      "1 Content-Length with Transfer-Encoding",
      () => `${post("Content-Length: 2", "Transfer-Encoding: chunked")}0\r\n\r\n`,
      [400],
    ],
    ["2 two Content-Lengths", () => `${post("Content-Length: 2", "Content-Length: 3")}{}`, [400]],
    ["3 Content-Length +7", () => post("Content-Length: +7"), [400]],
    ["4 Content-Length 0x7", () => post("Content-Length: 0x7"), [400]],
    ["5 Content-Length -7", () => post("Content-Length: -7"), [400]],
    ["6 Content-Length 7, 7", () => post("Content-Length: 7, 7"), [400]],
    ["7 Transfer-Encoding xchunked", () => post("Transfer-Encoding: xchunked"), [400]],
    ["8 Transfer-Encoding chunked, identity", () => post("Transfer-Encoding: chunked, identity"), [400]],
    ["9 a blank before the colon", () => post("Transfer-Encoding : chunked"), [400]],
    ["10 folded header", () => post("X-A: b", " c"), [400]],
    ["11 NUL in a header", () => post("X-A: b\u0000c"), [400]],
    ["12 no Host", () => head("GET /healthz HTTP/1.1"), [400]],
    ["13 header without a name", () => post(": b"), [400]],
    ["15 HTTP/2 preface", () => "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", [0, 400, 505]],
    ["16 OPTIONS *", () => head("OPTIONS * HTTP/1.1", "Host: x"), [400]],
    ["14 CR CR after the headers", () => "GET /healthz HTTP/1.1\r\nHost: x\r\r", [0, 400]],
    ["17 chunk size overflow", () => `${chunked()}FFFFFFFFFFFFFFFFF\r\n`, [400]],
    ["18 LF in chunk framing", () => `${chunked()}2\n{}\n0\n\n`, [400]],
    ["19 garbage after a chunk", () => `${chunked()}2\r\n{}garbage\r\n0\r\n\r\n`, [400]],
    ["20 bare LF lines", () => "GET /healthz HTTP/1.1\nHost: x\n\n", [400, 505]],
    ["22 TAB in the path", () => get("/a\tb"), [400, 404, 505]],
    [
      "25 a chunk extension of 20 KB",
      () => `${chunked()}2;${"a".repeat(20_480)}\r\n{}\r\n0\r\n\r\n`,
      [400, 413],
    ],
    ["21 HTTP/3.0", () => head("GET /healthz HTTP/3.0", "Host: x"), [400, 505]],
    ["23 headers over 16 KiB", () => post(`X-A: ${"a".repeat(17_000)}`), [431]],
    ["24 more than 200 headers", () => post(...Array.from({ length: 250 }, (_, n) => `X-${n}: a`)), [431]],
    ["trailers behind a body", () => `${chunked()}2\r\n{}\r\n0\r\nX-A: b\r\n\r\n`, [400]],
    ["an empty line before a request", () => `\r\n${get("/healthz")}`, [400]],
    ["27 unknown method", () => head("BREW /healthz HTTP/1.1", "Host: x"), [0, 400, 405, 501]],
  ])("%s", async (_, send, statuses) => {
    const calls = gateway.simulator.bill().length;
    expect(statuses).toContain(statusOf(await raw(send())));
    expect(gateway.simulator.bill()).toHaveLength(calls);
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
  });
});

describe("hosts, paths and methods", () => {
  test.each([
    ["30 HTTP/1.0 without Host", head("GET /healthz HTTP/1.0"), 400],
    ["30 an empty Host", head("GET /healthz HTTP/1.1", "Host: "), 400],
    ["30 Host with a blank", head("GET /healthz HTTP/1.1", "Host: a b"), 400],
    ["30 Host with an @", head("GET /healthz HTTP/1.1", "Host: a@b"), 400],
    ["30 Host with a path", head("GET /healthz HTTP/1.1", "Host: x/../"), 400],
    ["31 somebody else's Host", head("GET /healthz HTTP/1.1", "Host: evil.example"), 200],
    ["32 absolute form", head("GET http://evil/v1/models HTTP/1.1", "Host: evil"), 401],
    ["33 dots to the operator API", get("/v1/../admin/v1/organizations"), 401],
    ["33 encoded dots to the operator API", get("/v1/%2e%2e/admin/v1/organizations"), 401],
    ["34 a backslash", get("/v1\\models"), 401],
    ["35 an encoded slash", get("/v1%2fmodels"), 404],
    ["35 upper case", get("/V1/models"), 404],
    ["35 a path parameter", get("/v1/models;x"), 404],
    ["36 NUL in a path", get("/v1/%00"), 404],
    ["36 a broken escape", get("/v1/%zz"), 404],
    ["37 doubled slashes", get("//v1//models/"), 401],
    ["38 CONNECT", head("CONNECT x:443 HTTP/1.1", "Host: x:443"), 405],
    ["38 TRACE", head("TRACE /v1/models HTTP/1.1", "Host: x"), 405],
    ["39 Expect: foo", get("/healthz", "Expect: foo"), 200],
    ["40 Upgrade", get("/healthz", "Connection: Upgrade", "Upgrade: websocket"), 200],
    ["45 GET on chat/completions", get("/v1/chat/completions"), 405],
    ["45 POST on models", head("POST /v1/models HTTP/1.1", "Host: x", "Content-Length: 0"), 405],
    ["46 /v1/engines", get("/v1/engines"), 404],
    ["46 /v2", get("/v2/chat/completions"), 404],
    ["54 GET with a body", `${get("/healthz", "Content-Length: 2")}{}`, 200],
  ])("%s", async (_, send, status) => {
    const reply = await raw(send);
    expect(statusOf(reply)).toBe(status);
    expect(reply.toLowerCase()).toContain("x-request-id: req_");
    if (status === 405) expect(reply.toLowerCase()).toContain("\r\nallow: ");
  });

  test("29 two Hosts are refused or the first one counts, and neither decides anything", async () => {
    const reply = await raw(head("GET /healthz HTTP/1.1", "Host: a", "Host: b"));
    expect([200, 400]).toContain(statusOf(reply));
  });

  test("42 a request pipelined behind a 401 with a body gets its own answer", async () => {
    const first = `${post("Content-Type: application/json", "Content-Length: 30")}${"GET /x HTTP/1.1\r\nHost: evil\r\n\r\n".slice(0, 30)}`;
    const reply = await raw(`${first}${get("/healthz")}`, 2_000);
    expect([...reply.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status)).toEqual(["401", "200"]);
  });

  test("44 method override is ignored; a forwarded address opens nothing, and only indicates a proxy", async () => {
    expect(statusOf(await raw(get("/v1/models", "X-HTTP-Method-Override: POST")))).toBe(401);
    expect(statusOf(await raw(get("/metrics")))).toBe(200);
    expect(statusOf(await raw(get("/metrics", "X-Forwarded-For: 127.0.0.1")))).toBe(401);
  });

  test("46 an unknown URL names the right one", async () => {
    const reply = await fetch(`${gateway.url}/v1/engines`, { method: "POST" });
    const { error } = (await reply.json()) as ErrorJson;
    expect(error.code).toBe("unknown_url");
    expect(error.message).toContain(`${gateway.baseUrl}/chat/completions`);
  });
});

describe("media types and sizes", () => {
  const send = (
    headers: Record<string, string>,
    body: string | ReadableStream<Uint8Array>,
  ): Promise<Response> =>
    fetch(`${gateway.baseUrl}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${customer.secret}`, ...headers },
      body,
    });
  const plain = JSON.stringify(hello());

  test.each<[string, Record<string, string>]>([
    ["47 text/plain", { "content-type": "text/plain" }],
    ["47 two of them", { "content-type": "application/json, text/plain" }],
    ["48 utf-16", { "content-type": "application/json; charset=utf-16" }],
    ["48 utf-80", { "content-type": "application/json; charset=utf-80" }],
    ["49 gzip", { "content-type": "application/json", "content-encoding": "gzip" }],
    ["49 br", { "content-type": "application/json", "content-encoding": "br" }],
    ["49 deflate", { "content-type": "application/json", "content-encoding": "deflate" }],
    ["50 multipart", { "content-type": "multipart/form-data; boundary=x" }],
    ["50 form", { "content-type": "application/x-www-form-urlencoded" }],
  ])("%s", async (_, headers) => {
    const reply = await send(headers, plain);
    expect(reply.status).toBe(415);
    expect(await reply.json()).toMatchObject({ error: { code: "unsupported_media_type" } });
  });

  test("47 no Content-Type", async () => {
    const reply = await raw(
      `${post(`Authorization: Bearer ${customer.secret}`, `Content-Length: ${plain.length}`)}${plain}`,
    );
    expect(statusOf(reply)).toBe(415);
  });

  test.each(["utf-8", "UTF-8", '"utf-8"', "utf8", '"UTF8"'])("charset %s is fine", async (charset) => {
    const type = `application/json; charset=${charset}`;
    expect((await send({ "content-type": type }, plain)).status).toBe(200);
  });

  test("51 a body over the limit by Content-Length is refused readably", async () => {
    const reply = await send({ "content-type": "application/json" }, "x".repeat(1_000_001));
    expect(reply.status).toBe(413);
    expect(await reply.json()).toMatchObject({ error: { code: "payload_too_large" } });
  });

  test("52 a chunked body over the limit is refused while it is counted", async () => {
    const piece = new Uint8Array(100_000).fill(0x78);
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        if (sent++ < 30) controller.enqueue(piece);
        else controller.close();
      },
    });
    const reply = await send({ "content-type": "application/json" }, body);
    expect(reply.status).toBe(413);
  });
});

describe("invalid keys", () => {
  const ask = (headers: Record<string, string>, path = "/models"): Promise<Response> =>
    fetch(`${gateway.baseUrl}${path}`, { headers });
  const flip = (secret: string, at: number): string =>
    secret.slice(0, at) + (secret[at] === "a" ? "b" : "a") + secret.slice(at + 1);

  test.each<[string, () => Record<string, string>]>([
    ["55 no header", () => ({})],
    ["55 Basic", () => ({ authorization: "Basic dXNlcjpwYXNz" })],
    ["56 Bearer alone", () => ({ authorization: "Bearer" })],
    ["56 two words", () => ({ authorization: `Bearer a ${customer.secret}` })],
    ["57 twice", () => ({ authorization: `Bearer ${customer.secret}, Bearer ${customer.secret}` })],
    ["58 another prefix", () => ({ authorization: "Bearer sk-proj-abcdef" })],
    [
      "59 wrong checksum",
      () => ({ authorization: `Bearer ${flip(customer.secret, customer.secret.length - 1)}` }),
    ],
    ["62 other case", () => ({ authorization: `Bearer ${customer.secret.toLowerCase()}` })],
    ["63 10 KB", () => ({ authorization: `Bearer gw_sk_${"a".repeat(10_240)}` })],
    ["64 SQL", () => ({ authorization: "Bearer ' OR 1=1--" })],
    ["65 in api-key", () => ({ "api-key": customer.secret })],
    [
      "66 the first 20 characters of a real key",
      () => ({
        authorization: `Bearer ${customer.secret.slice(0, 20)}${"0".repeat(customer.secret.length - 20)}`,
      }),
    ],
    ["69 a cookie", () => ({ cookie: "session=abc" })],
  ])("%s", async (_, headers) => {
    const reply = await ask(headers());
    expect(reply.status).toBe(401);
    const text = await reply.text();
    expect(JSON.parse(text)).toMatchObject({ error: { code: "invalid_api_key" } });
    expect(text).not.toContain(customer.secret.slice(6, 26));
    expect(reply.headers.get("www-authenticate")).toBe("Bearer");
  });

  test("65 a key in the query or in the body opens nothing", async () => {
    expect((await ask({}, `/models?api_key=${customer.secret}`)).status).toBe(401);
    const reply = await fetch(`${gateway.baseUrl}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...hello(), api_key: customer.secret }),
    });
    expect(reply.status).toBe(401);
  });

  test("61 a revoked key is named as such, only to its holder", async () => {
    const fired = await gateway.key(customer.organizationId);
    await gateway.admin("POST", `/keys/${fired.keyId}/revoke`);
    const reply = await ask({ authorization: `Bearer ${fired.secret}` });
    expect(await reply.json()).toMatchObject({ error: { code: "api_key_revoked" } });
  });

  test("67 a management key is not for inference, 68 an inference key not for the operator", async () => {
    const { token } = JSON.parse(await Bun.file(`${gateway.dataDir}/operator.json`).text()) as {
      token: string;
    };
    const onModels = await ask({ authorization: `Bearer ${token}` });
    expect([onModels.status, await onModels.json()]).toMatchObject([
      403,
      { error: { code: "scope_not_permitted" } },
    ]);
    const onAdmin = await fetch(`${gateway.url}/admin/v1/organizations`, {
      headers: { authorization: `Bearer ${customer.secret}` },
    });
    expect([onAdmin.status, await onAdmin.json()]).toMatchObject([
      403,
      { error: { code: "scope_not_permitted" } },
    ]);
  });
});
