// Providers behind an HTTP proxy (docs/operations.md, "Outbound connections"): what is sent through it, what its refusals prove
// (money.md §2), and that the environment alone changes nothing (hardening.md S13).
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CERTIFICATE } from "../support/certificate.ts";
import { hello } from "../support/gateway.ts";
import { onProvider, PLAIN, type TestManifest } from "../support/models.ts";
import { ProcessGateway } from "../support/process-gateway.ts";
import { type Mood, TunnelProxy } from "../support/tunnel-proxy.ts";
import { waitFor } from "../support/wait.ts";

const PASSWORD = "p:ss@wörd/1";
const FAR = "api.upstream.test";
const SIGN_IN = "sign-in.upstream.test";

let network: TunnelProxy;
let folder: string;
let gateway: ProcessGateway;
let organizationId: string;
let secret: string;

/** On a provider behind the proxy, or else on the simulator. */
const elsewhere = (model: string, provider: string): TestManifest[] => [
  onProvider({ ...PLAIN, model }, provider, { priority: 0 }),
  onProvider({ ...PLAIN, model }, "simulator", { priority: 1 }),
];

beforeAll(async () => {
  network = await TunnelProxy.start();
  folder = mkdtempSync(join(tmpdir(), "tollgate-authority-"));
  const trusted = join(folder, "authority.pem");
  writeFileSync(trusted, CERTIFICATE.cert);
  const health = "health: { probe: null, open_after_failures: 1000 }, timeouts: { connect_ms: 1000 }";
  const at = (name: string, url: string): string =>
    `  - { name: ${name}, kind: openai, api_key: sk-upstream, base_url: "${url}/v1", ${health} }`;
  gateway = await ProcessGateway.start(
    {
      PROXY_PASSWORD: PASSWORD,
      NODE_EXTRA_CA_CERTS: trusted,
      TOLLGATE_LOG_LEVEL: "debug",
      HTTPS_PROXY: "http://127.0.0.1:9",
      https_proxy: "http://127.0.0.1:9",
      HTTP_PROXY: "http://127.0.0.1:9",
      NO_PROXY: "upstream.test",
    },
    [
      at("far", `https://${FAR}`),
      at("near", network.direct),
      at("excepted", "https://inside.upstream.test"),
      "outbound:",
      `  proxy: ${network.url}`,
      "  proxy_user: tollgate",
      "  proxy_password: ${PROXY_PASSWORD}",
      "  no_proxy: [ inside.upstream.test ]",
      `sign_in: { oidc: [ { id: acme, name: Acme, discovery_url: "https://${SIGN_IN}/.well-known/openid-configuration", client_id: tollgate, client_secret: s } ] }`,
    ].join("\n"),
  );
  network.target = gateway.simulator.url;
  for (const name of ["far", "near", "excepted"])
    for (const manifest of elsewhere(`on-${name}`, name)) await gateway.publish(manifest);
  ({ organizationId, secret } = await gateway.customer("100"));
});
afterAll(async () => {
  await gateway.stop();
  network.stop();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  network.mood = "open";
  network.asked.length = 0;
});

async function servedBy(model: string): Promise<[number | null, string | undefined]> {
  const { status, text } = await gateway.chat(secret, hello(model));
  return [status, (JSON.parse(text) as { gateway?: { provider: string } }).gateway?.provider];
}

test("calls, whole and streamed, go through the proxy, with its password; tunnels are used again", async () => {
  for (let n = 0; n < 5; n += 1) expect(await servedBy("on-far")).toEqual([200, "far"]);
  const streamed = await gateway.chat(secret, { ...hello("on-far"), stream: true });
  expect(streamed.text).toContain('"provider":"far"');
  expect(streamed.text).toEndWith("data: [DONE]\n\n");
  // The probe's tunnel, and the one of the calls.
  expect(network.asked).toHaveLength(2);
  for (const head of network.asked) {
    expect(head).toStartWith(`CONNECT ${FAR}:443 HTTP/1.1\r\n`);
    const basic = /^Proxy-Authorization: Basic (\S+)\r$/im.exec(head)?.[1] ?? "";
    expect(Buffer.from(basic, "base64").toString()).toBe(`tollgate:${PASSWORD}`);
    expect(head).not.toContain("sk-upstream");
  }
});

test.each<[string, Mood]>([
  ["refuses the password", { status: "407 Proxy Authentication Required" }],
  ["forbids the host", { status: "403 Forbidden" }],
  ["finds no way", { status: "502 Bad Gateway" }],
  ["redirects", { status: "302 Found\r\nlocation: https://elsewhere.test/" }],
  ["says nothing", "silent"],
  ["closes", "closed"],
])("a proxy that %s is proof that nothing was sent: the next provider serves", async (_, mood) => {
  network.cut(); // what is open needs no new tunnel
  network.mood = mood;
  const calls = gateway.simulator.bill().length;
  expect(await servedBy("on-far")).toEqual([200, "simulator"]);
  expect(network.asked.length).toBeGreaterThan(0);
  expect(gateway.simulator.bill()).toHaveLength(calls + 1);
  // Nothing stays open behind a proxy that did not answer.
  await waitFor(async () => network.open === 0, "the probe's connection to be closed");
});

test("a proxy that closes where no probe was needed proves nothing: 502, nothing charged, and the next call is probed", async () => {
  expect(await servedBy("on-far")).toEqual([200, "far"]);
  const calls = gateway.simulator.bill().length;
  const before = await balance();
  network.cut();
  await waitFor(async () => network.open === 0, "the tunnels to be closed");
  network.mood = "closed";
  expect((await servedBy("on-far"))[0]).toBe(502);
  expect(await balance()).toEqual(before);
  expect(gateway.simulator.bill()).toHaveLength(calls);
  expect(await servedBy("on-far")).toEqual([200, "simulator"]);
});

test("a tunnel that breaks once the request was sent proves nothing: one call, nothing charged", async () => {
  expect(await servedBy("on-far")).toEqual([200, "far"]);
  const calls = gateway.simulator.bill().length;
  const before = await balance();
  expect(before).toMatchObject({ available_usd: expect.stringMatching(/^99\./), held_usd: "0.000000000" });
  gateway.simulator.behave({ behaviour: { hang: true }, calls: 1 });
  const answer = gateway.chat(secret, hello("on-far"));
  await waitFor(async () => gateway.simulator.bill().length === calls + 1, "the call to arrive");
  network.cut();
  const { status, text } = await answer;
  expect([status, JSON.parse(text)]).toMatchObject([502, { error: { code: "provider_error" } }]);
  expect(gateway.simulator.bill()).toHaveLength(calls + 1);
  expect(await balance()).toEqual(before);
});

test("a tunnel that broke while it was idle: nothing is sent twice", async () => {
  expect(await servedBy("on-far")).toEqual([200, "far"]);
  const calls = gateway.simulator.bill().length;
  network.cut();
  await waitFor(async () => network.open === 0, "the tunnels to be closed");
  // 502 if the call was written before the break was noticed: then nobody knows what ran.
  const { status } = await gateway.chat(secret, hello("on-far"));
  expect<(number | null)[]>([200, 502]).toContain(status);
  expect(gateway.simulator.bill().length - calls).toBe(status === 200 ? 1 : 0);
});

test("this machine and the exceptions are reached directly", async () => {
  expect(await servedBy("on-near")).toEqual([200, "near"]);
  // Its name leads nowhere from here, which is how one sees that nobody asked the proxy.
  expect(await servedBy("on-excepted")).toEqual([200, "simulator"]);
  expect(network.asked).toEqual([]);
});

test("a company's sign-in service is asked through the proxy", async () => {
  await fetch(`${gateway.url}/auth/sign-in/social`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: gateway.url },
    body: JSON.stringify({ provider: "acme", callbackURL: "/", errorCallbackURL: "/" }),
  });
  expect(network.asked[0]).toStartWith(`CONNECT ${SIGN_IN}:443 `);
});

test("provider test takes the same way, and says what to look at", async () => {
  const words = ["provider", "test", "far", "--json"];
  const trusted = {
    PROXY_PASSWORD: PASSWORD,
    NODE_TLS_REJECT_UNAUTHORIZED: "0",
    HTTPS_PROXY: "http://127.0.0.1:9",
  };
  const well = await gateway.cli(trusted, ...words);
  expect(well.code).toBe(0);
  expect(network.asked.length).toBeGreaterThan(0);
  network.mood = { status: "407 Proxy Authentication Required" };
  const refused = await gateway.cli(trusted, ...words);
  expect(refused.code).toBe(1);
  expect(refused.stdout).toContain("the proxy opened no connection to the upstream (407)");
  expect(refused.stdout).toContain("outbound.proxy");
});

test("doctor names the proxy, and a file of authorities that is not there", async () => {
  const env = { PROXY_PASSWORD: PASSWORD, NODE_EXTRA_CA_CERTS: "/nowhere/ca.pem" };
  const { stdout } = await gateway.cli(env, "doctor", "--json");
  const { findings } = JSON.parse(stdout) as { findings: { check: string; state: string; found: string }[] };
  expect(findings).toContainEqual({
    check: "outbound proxy",
    state: "ok",
    found: new URL(network.url).host,
    next: null,
  } as (typeof findings)[number]);
  expect(findings.find(({ check }) => check === "more authorities")).toMatchObject({
    state: "wrong",
    found: expect.stringContaining("/nowhere/ca.pem"),
  });
});

test("the password is neither in the log nor in what operators read of requests", async () => {
  const requests = JSON.stringify(await gateway.admin("GET", `/requests?org=${organizationId}`));
  expect(requests).toContain("on-far");
  for (const spelled of [
    PASSWORD,
    encodeURIComponent(PASSWORD),
    Buffer.from(`tollgate:${PASSWORD}`).toString("base64"),
  ])
    expect(gateway.log + requests).not.toContain(spelled);
});

const balance = () =>
  gateway.admin<{ available_usd: string; held_usd: string }>("GET", `/credits?org=${organizationId}`);
