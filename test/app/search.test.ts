// The search of the dashboard: what each person may find, by what, and how much of it; on both stores.
import { describe, expect, test, beforeAll, afterAll } from "bun:test";
import { type Browser, firstOperator, newMember } from "../support/browser.ts";
import { hello, startGateway, STORES, type TestGateway } from "../support/gateway.ts";
import { PLAIN } from "../support/models.ts";

describe.each(STORES)("on %s", (store) => {
  let gateway: TestGateway;
  let root: Browser;
  let ada: Browser;
  let acme: string;
  let secret: string;
  let key: string;
  let request: string;

  beforeAll(async () => {
    gateway = await startGateway({ store });
    root = await firstOperator(gateway);
    for (const name of ["Basalt 100%", "Acme"]) {
      ({ id: acme } = await root.app("POST /operator/organizations", {}, { name }));
      ada = await newMember(root, gateway, { org: acme, role: "owner", email: `${acme}@example.com` });
      const credits = { org: acme, amount_usd: "5", kind: "grant", reference: acme, reason: "test" };
      await root.app("POST /operator/credits", {}, credits);
      const made = await ada.app("POST /orgs/{org}/keys", { org: acme }, { name: "Nightly batch" });
      [secret, key] = [made.secret ?? "", made.id];
      const reply = await gateway.chat<{ gateway: { request_id: string } }>(
        { organizationId: acme, keyId: key, secret },
        hello(),
      );
      request = reply.json.gateway.request_id;
    }
  }, 120_000);
  afterAll(() => gateway.stop());

  const mine = async (q: string) =>
    (await ada.app("GET /orgs/{org}/search", { org: acme }, undefined, `?q=${encodeURIComponent(q)}`)).data;
  const anywhere = async (q: string) =>
    (await root.app("GET /operator/search", {}, undefined, `?q=${encodeURIComponent(q)}`)).data;
  const told = (rows: Awaited<ReturnType<typeof mine>>) => rows.map(({ kind, id }) => [kind, id]);

  test("a member finds what is of their organization, an operator what there is", async () => {
    expect(told(await mine("NIGHTLY"))).toEqual([["key", key]]);
    expect(told(await anywhere("nightly"))).toHaveLength(2);
    expect(await anywhere("acm")).toMatchObject([{ kind: "organization", id: acme, title: "Acme" }]);
    expect(await mine("acm")).toEqual([]);
    expect(told(await mine(PLAIN.model.slice(1)))).toContainEqual(["model", PLAIN.model]);
  });

  test("a key is found by its id and by its prefix, or by any part of the prefix", async () => {
    for (const part of [key, secret.slice(0, 18), secret.slice(0, 24), secret.slice(0, 30)])
      expect(told(await anywhere(part))).toEqual([["key", key]]);
    expect(told(await mine(secret.slice(-4)))).toEqual([["key", key]]);
    const tail = secret[23] === "x" ? "y" : "x";
    expect(await anywhere(secret.slice(0, 23) + tail)).toEqual([]);
    await ada.app("POST /orgs/{org}/keys/{key}/pause", { org: acme, key });
    expect(await mine("nightly")).toMatchObject([{ kind: "key", id: key, state: "paused" }]);
    await ada.app("POST /orgs/{org}/keys/{key}/revoke", { org: acme, key });
    expect(await mine(key)).toMatchObject([{ kind: "key", state: "revoked" }]);
    expect(await mine("nightly")).toEqual([]);
  });

  test("a request is found by its whole id, by whoever may see it; one that held nothing, too", async () => {
    expect(await mine(request)).toMatchObject([{ kind: "request", state: "settled", detail: PLAIN.model }]);
    expect(await anywhere(request)).toMatchObject([{ org: acme, org_name: "Acme" }]);
    const basalt = (await anywhere("basalt"))[0]?.id ?? "";
    const of = await root.app("GET /orgs/{org}/search", { org: basalt }, undefined, `?q=${request}`);
    expect(of.data).toEqual([]);
    const refused = await gateway.chat({ organizationId: acme, keyId: key, secret }, hello());
    expect(refused.status).toBe(401); // revoked: nobody's row
    const made = await ada.app("POST /orgs/{org}/keys", { org: acme }, { name: "Other" });
    const other = { organizationId: acme, keyId: made.id, secret: made.secret ?? "" };
    const unknown = await gateway.chat(other, { ...hello(), model: "no-such-model" });
    const id = unknown.headers.get("x-request-id") ?? "";
    expect(told(await mine(id))).toEqual([["request", id]]);
  });

  test("typed text is taken literally, and has a maximum length", async () => {
    expect(told(await anywhere("0%"))).toHaveLength(1);
    expect(await anywhere("__")).toEqual([]);
    for (const q of ["", "a", " a ", "x".repeat(101)]) {
      const query = `?q=${encodeURIComponent(q)}`;
      expect((await root.try("GET /operator/search", {}, undefined, { query })).status).toBe(400);
    }
    for (let n = 0; n < 8; n += 1)
      await ada.app("POST /orgs/{org}/keys", { org: acme }, { name: `Many ${n}` });
    expect(await mine("many")).toHaveLength(6);
  });
});
