// Behind a reverse proxy: people are distinguished by the address that a trusted proxy reports, never by what they
// write themselves.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Browser, firstOperator, PASSWORD } from "../support/browser.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";

const PER_MINUTE = 4;
let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway({
    configure: (config) => {
      config.server.trustedProxies = ["127.0.0.0/8", "::1/128"];
      config.signIn.perMinute = PER_MINUTE;
    },
  });
  await firstOperator(gateway);
});
afterAll(() => gateway.stop());

/** As the proxy passes it on; the password is wrong. */
const guess = async (forwardedFor: string): Promise<number> =>
  (
    await new Browser(gateway.url).send(
      "POST",
      "/auth/sign-in/email",
      { email: "root@example.com", password: "wrong horse battery" },
      { "x-forwarded-for": forwardedFor },
    )
  ).status;

test("one client's attempts do not slow another one down, and no made-up header gives more of them", async () => {
  for (let i = 0; i < PER_MINUTE; i++) expect(await guess("203.0.113.9")).toBe(401);
  expect(await guess("203.0.113.9")).toBe(429);
  expect(await guess("198.51.100.1, 203.0.113.9")).toBe(429);
  expect(await guess("203.0.113.10")).toBe(401);
});

test("the addresses of one IPv6 network count as one client", async () => {
  for (let i = 0; i < PER_MINUTE; i++) expect(await guess(`2001:db8:1:2::${i}`)).toBe(401);
  expect(await guess("2001:db8:1:2:ffff::1")).toBe(429);
  expect(await guess("2001:db8:1:3::1")).toBe(401);
});

test("a person sees the address that they signed in from", async () => {
  const browser = new Browser(gateway.url);
  const account = { email: "root@example.com", password: PASSWORD };
  await browser.send("POST", "/auth/sign-in/email", account, { "x-forwarded-for": "203.0.113.77" });
  const { sessions } = await browser.app("GET /profile");
  expect(sessions.find(({ current }) => current)?.address).toBe("203.0.113.77");
});

test("attempts on a link are counted per client, too", async () => {
  const tries = async (address: string): Promise<number[]> => {
    const statuses: number[] = [];
    for (let i = 0; i <= PER_MINUTE; i++) {
      const body = { token: "guessed", password: PASSWORD };
      const headers = { "x-forwarded-for": address };
      statuses.push((await new Browser(gateway.url).try("POST /reset", {}, body, { headers })).status);
    }
    return statuses;
  };
  expect(await tries("203.0.113.20")).toEqual([...Array<number>(PER_MINUTE).fill(410), 429]);
  expect((await tries("203.0.113.21"))[0]).toBe(410);
  expect(await tries("2001:db8:2:2::1")).toEqual([...Array<number>(PER_MINUTE).fill(410), 429]);
  expect((await tries("2001:db8:2:2::2"))[0]).toBe(429);
});

test("metrics stay closed to a client behind the proxy on this machine", async () => {
  const read = async (headers: Record<string, string>): Promise<number> =>
    (await fetch(`${gateway.url}/metrics`, { headers })).status;
  expect(await read({})).toBe(200);
  expect(await read({ "x-forwarded-for": "203.0.113.9" })).toBe(401);
});

test("the same without a configured proxy, once one is noticed", async () => {
  const bare = await startGateway();
  try {
    const read = async (headers: Record<string, string>): Promise<number> =>
      (await fetch(`${bare.url}/metrics`, { headers })).status;
    expect(await read({})).toBe(200);
    for (const [name, value] of Object.entries({
      "x-forwarded-for": "203.0.113.9",
      "x-forwarded-proto": "https",
      "x-forwarded-host": "gate.example.com",
      "x-real-ip": "203.0.113.9",
      forwarded: "for=203.0.113.9",
      via: "1.1 proxy",
    })) {
      expect([name, await read({ [name]: value })]).toEqual([name, 401]);
      const authorization = `Bearer ${bare.token}`;
      expect([name, await read({ [name]: value, authorization })]).toEqual([name, 200]);
    }
  } finally {
    await bare.stop();
  }
});

test("garbage is no address and breaks nothing", async () => {
  for (const garbage of ["unknown", ",,,", "999.1.1.1", "[::1", "é", "x".repeat(5000)])
    expect([garbage, [401, 429].includes(await guess(garbage))]).toEqual([garbage, true]);
});
