// A body may arrive long after its headers: a caller who has lost the permission by then is refused, on either API
// (hardening.md S10).
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { type Browser, firstOperator, newMember, newOperator } from "../support/browser.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";
import { openSocket } from "../support/raw.ts";
import { edit } from "../support/versions.ts";

setDefaultTimeout(60_000);

let gateway: TestGateway;
let root: Browser;
let org: string;
let count = 0;

beforeAll(async () => {
  gateway = await startGateway({ configure: (config) => (config.signIn.perMinute = 1000) });
  root = await firstOperator(gateway);
  org = (await root.app("POST /operator/organizations", {}, { name: "Acme" })).id;
});
afterAll(() => gateway.stop());

/** Sends the headers and half of the body, then runs `meanwhile`, then sends the rest. */
function late(
  path: string,
  { headers, body }: { headers: Record<string, string>; body: unknown },
  meanwhile: () => Promise<unknown>,
): Promise<{ status: number; text: string }> {
  const text = JSON.stringify(body);
  const { host } = new URL(gateway.url);
  const all = {
    host,
    connection: "close",
    "content-type": "application/json",
    "content-length": String(text.length),
    ...headers,
  };
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return new Promise((resolve, reject) => {
    let reply = "";
    const socket = openSocket(gateway.url);
    socket.once("connect", () => {
      socket.write(`POST ${path} HTTP/1.1\r\n${head.join("")}\r\n${text.slice(0, 3)}`);
      void Bun.sleep(200)
        .then(meanwhile)
        .then(() => socket.write(text.slice(3)), reject);
    });
    socket.on("data", (bytes) => (reply += bytes.toString()));
    socket.on("error", reject);
    socket.on("close", () =>
      resolve({ status: Number(/^HTTP\/1\.1 (\d{3})/.exec(reply)?.[1]), text: reply.slice(9) }),
    );
  });
}

const idOf = async (browser: Browser): Promise<string> =>
  (await browser.app("GET /session")).person?.id ?? "";
const asPage = (browser: Browser): Record<string, string> => ({
  cookie: browser.cookie,
  origin: gateway.url,
});
const join = (role: "owner" | "developer"): Promise<Browser> =>
  newMember(root, gateway, { org, role, email: `person${++count}@example.com` });
const keysNamed = async (name: string): Promise<number> =>
  (await root.app("GET /orgs/{org}/keys", { org })).data.filter((key) => key.name === name).length;

const LOSSES: Record<string, (developer: Browser, owner: Browser) => Promise<unknown>> = {
  removed: async (developer, owner) =>
    owner.app("DELETE /orgs/{org}/team/{member}", { org, member: await idOf(developer) }),
  demoted: async (developer, owner) =>
    edit(
      owner,
      "PATCH /orgs/{org}/team/{member}",
      { org, member: await idOf(developer) },
      { role: "viewer" },
    ),
  "signed out": (developer) => developer.copy().send("POST", "/auth/sign-out"),
};

for (const [loss, lose] of Object.entries(LOSSES))
  test(`a member who was ${loss} while their form arrived makes no key`, async () => {
    const [owner, developer] = [await join("owner"), await join("developer")];
    const form = { headers: asPage(developer), body: { name: `late ${loss}` } };
    const { status, text } = await late(`/app/v1/orgs/${org}/keys`, form, () => lose(developer, owner));
    expect({ status, made: await keysNamed(`late ${loss}`), text: status < 400 ? text : "" }).toEqual({
      status: loss === "removed" ? 404 : 401, // a changed role ends sessions
      made: 0,
      text: "",
    });
  });

test("an operator who was removed while their form arrived grants nothing", async () => {
  const operator = await newOperator(root, gateway, "leaves@example.com");
  const body = { org, amount_usd: "5", kind: "grant", reference: "late", reason: "late" };
  const { status } = await late(`/app/v1/operator/credits`, { headers: asPage(operator), body }, async () =>
    root.app("DELETE /operator/people/{person}", { person: await idOf(operator) }),
  );
  expect(status).toBe(401);
});

test("a management key that was revoked while its body arrived does nothing", async () => {
  const { id, secret } = await root.app("POST /operator/management-keys", {}, { name: "late" });
  const call = { headers: { authorization: `Bearer ${secret ?? ""}` }, body: { org, name: "late by key" } };
  const { status } = await late("/admin/v1/keys", call, () =>
    root.app("POST /operator/management-keys/{key}/revoke", { key: id }),
  );
  expect([status, await keysNamed("late by key")]).toEqual([401, 0]);
});
