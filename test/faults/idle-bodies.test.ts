// Bodies that are declared and never sent, or sent except for their end: they do not block other small ones, whether
// tenants without credits send them or strangers (hardening.md S18).
import type { Socket } from "node:net";
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { type Customer, hello, startGateway, type TestGateway } from "../support/gateway.ts";
import { PLAIN } from "../support/models.ts";
import { openSocket } from "../support/raw.ts";

const MEGABYTE = 1024 * 1024;
const SMALL = 64 * 1024;

let gateway: TestGateway;
let paying: Customer;
let poor: Customer[];
const sockets: Socket[] = [];
beforeAll(async () => {
  gateway = await startGateway({
    configure: (config) => {
      config.server.trustedProxies = ["127.0.0.1"];
      config.signIn.perMinute = 1_000;
    },
  });
  paying = await gateway.customer();
  poor = await Promise.all(Array.from({ length: 4 }, () => gateway.customer({ usd: "0.000001" })));
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});
afterAll(() => gateway.stop());

interface Declared {
  path: string;
  bytes: number;
  sent?: number;
  headers?: string[];
}

/** Begins a body; resolves when the gateway has read its header, and the given part of it is sent. */
function begin({ path, bytes, sent = 0, headers = [] }: Declared): Promise<void> {
  const { origin } = new URL(gateway.url);
  const socket = openSocket(gateway.url);
  sockets.push(socket);
  const lines = [
    `POST ${path} HTTP/1.1`,
    "Host: x",
    `Origin: ${origin}`,
    "Content-Type: application/json",
    "Expect: 100-continue",
    `Content-Length: ${bytes}`,
    ...headers,
  ];
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  return new Promise((resolve) => {
    socket.once("close", () => resolve());
    socket.once("data", () => socket.write(Buffer.alloc(sent, " "), () => resolve()));
  });
}

const many = (times: number, declared: Declared): Promise<unknown> =>
  Promise.all(Array.from({ length: times }, () => begin(declared)));

const bearer = ({ secret }: Customer): string => `Authorization: Bearer ${secret}`;
const from = (address: string): string => `X-Forwarded-For: ${address}`;

/** What strangers get on each kind of endpoint: the statuses of many calls in sequence. */
async function strangers(address: string): Promise<Record<string, number[]>> {
  const { origin } = new URL(gateway.url);
  const doors: Record<string, [path: string, body: unknown, headers?: Record<string, string>]> = {
    webhook: ["/webhooks/stripe", { id: "evt" }, { "stripe-signature": "t=1,v1=00" }],
    device: ["/device/token", { device_code: "x".repeat(43), client_id: "tollgate-cli" }],
    "sign-in": ["/auth/sign-in/email", { email: "a@b.example", password: "wrong wrong" }, { origin }],
    reset: ["/app/v1/reset", { token: "x".repeat(43), password: "a new password" }, { origin }],
  };
  const statuses: Record<string, number[]> = {};
  for (let n = 0; n < 5; n += 1)
    for (const [door, [path, body, headers]] of Object.entries(doors)) {
      const answer = await fetch(gateway.url + path, {
        method: "POST",
        headers: { "content-type": "application/json", "x-forwarded-for": address, ...headers },
        body: JSON.stringify(body),
      });
      await answer.arrayBuffer();
      statuses[door] = [...new Set([...(statuses[door] ?? []), answer.status])];
    }
  return statuses;
}

async function calls(customer: Customer): Promise<number[]> {
  const statuses: number[] = [];
  for (let n = 0; n < 20; n += 1) statuses.push((await gateway.chat(customer, hello(PLAIN.model))).status);
  return [...new Set(statuses)];
}

test("bodies that a stranger only declares block no other stranger, on any endpoint, from the same address", async () => {
  const before = await strangers("192.0.2.1");
  await many(40, {
    path: "/webhooks/stripe",
    bytes: MEGABYTE,
    headers: ["Stripe-Signature: x", from("192.0.2.1")],
  });
  expect(await strangers("192.0.2.1")).toEqual(before);
});

test("one stranger's pending bodies block nobody on another endpoint or from another address, and no tenant", async () => {
  const here = "2001:db8:1:2::1";
  const before = await strangers("192.0.2.2");
  // One network: as many addresses as it likes.
  await Promise.all(
    Array.from({ length: 600 }, (_, n) =>
      begin({
        path: "/auth/sign-in/email",
        bytes: SMALL,
        sent: SMALL - 1,
        headers: [from(`2001:db8:1:2::${n.toString(16)}`)],
      }),
    ),
  );
  expect(await strangers(here)).toEqual({ ...before, "sign-in": [429] });
  expect(await strangers("2001:db8:1:3::1")).toEqual(before);
  expect(await strangers("192.0.2.2")).toEqual(before);
  expect(await calls(paying)).toEqual([200]);
});

test("bodies that tenants without credits only declare block no other tenant", async () => {
  await Promise.all(
    poor.map((tenant) =>
      many(8, { path: "/v1/chat/completions", bytes: 8 * MEGABYTE, headers: [bearer(tenant)] }),
    ),
  );
  expect(await calls(paying)).toEqual([200]);
  expect(await calls(poor[0] as Customer)).toEqual([402]);
});

test("small calls get through beside several tenants' large bodies that lack only their last bytes", async () => {
  await Promise.all(
    poor.map((tenant) =>
      many(8, {
        path: "/v1/chat/completions",
        bytes: 8 * MEGABYTE,
        sent: 7 * MEGABYTE,
        headers: [bearer(tenant)],
      }),
    ),
  );
  expect(await calls(paying)).toEqual([200]);
  expect(await calls(poor[0] as Customer)).toEqual([402]);
}, 120_000);

test("small calls get through beside any number of several tenants' unfinished small bodies", async () => {
  await Promise.all(
    poor.map((tenant) =>
      many(560, { path: "/v1/chat/completions", bytes: SMALL, headers: [bearer(tenant)] }),
    ),
  );
  expect(await calls(paying)).toEqual([200]);
}, 120_000);
