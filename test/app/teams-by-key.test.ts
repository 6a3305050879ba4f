// Members, invitations and alerts through management keys, on both stores: with an operator's rights, as long as the
// key's owner is an operator, under the rules of the dashboard
// (docs/decisions/0084-operators-see-to-teams-and-alerts.md).
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Role } from "../../src/domain/roles.ts";
import { Browser, firstOperator, newMember, newOperator, PASSWORD, tokenOf } from "../support/browser.ts";
import { startGateway, STORES, type Store, type TestGateway } from "../support/gateway.ts";
import { callAdmin, managementKeyOf } from "../support/hats.ts";
import { edit } from "../support/versions.ts";

/** Every password takes a tenth of a second of CPU. */
setDefaultTimeout(60_000);

interface Answered {
  id: string;
  link: string;
  state: string;
  role: Role;
  email: string;
  name: string;
  version: string;
  secret: string | null;
  done: boolean;
  data: {
    id: string;
    email: string;
    role: Role;
    state: string;
    person: { id: string };
    invited_by: { id: string };
    version: string;
  }[];
  error: { code: string; param: string | null; message: string };
}

describe.each([...STORES])("on %s", (store: Store) => {
  let gateway: TestGateway;
  let root: Browser;
  let installation: string;
  let count = 0;
  beforeAll(async () => {
    gateway = await startGateway({ store, configure: (config) => (config.signIn.perMinute = 10_000) });
    root = await firstOperator(gateway);
    const file = readFileSync(join(gateway.dataDir, "operator.json"), "utf8");
    installation = (JSON.parse(file) as { token: string }).token;
  });
  afterAll(() => gateway.stop());

  const newAddress = (): string => `somebody${++count}@example.com`;
  async function call(key: string, method: "GET" | "POST", path: string, body?: unknown) {
    const { status, json } = await callAdmin(gateway.url, key, [method, path], body);
    return { status, json: json as unknown as Answered };
  }
  const get = (path: string) => call(installation, "GET", path);
  const post = (path: string, body: unknown) => call(installation, "POST", path, body);
  async function organization(): Promise<{ org: string; owner: Browser; email: string; person: string }> {
    const org = (await root.app("POST /operator/organizations", {}, { name: "Acme" })).id;
    const email = newAddress();
    const owner = await newMember(root, gateway, { org, role: "owner", email });
    return { org, owner, email, person: await idOf(owner) };
  }
  const idOf = async (browser: Browser): Promise<string> =>
    (await browser.app("GET /session")).person?.id ?? "";
  const accept = async (link: string): Promise<number> => {
    const account = { name: "New", password: PASSWORD };
    const token = tokenOf(link);
    return (await new Browser(gateway.url).try("POST /invitations/accept", {}, { token, account })).status;
  };
  const membersOf = async (org: string) =>
    (await get(`/members?org=${org}`)).json.data.map(({ email, role }) => [email, role]);
  const linesOf = async (org: string) =>
    (await root.app("GET /operator/audit", {}, undefined, `?org=${org}`)).data.map(({ action, actor }) => [
      action,
      actor.id.slice(0, 3),
    ]);

  test("the machine's key invites, and the invited person gets the role; the audit log names the key", async () => {
    const { org, email } = await organization();
    const to = newAddress();
    const made = await post("/invitations", { org, email: to, role: "developer" });
    expect(made).toMatchObject({
      status: 201,
      json: { email: to, role: "developer", state: "open", mail: null },
    });
    expect((await get(`/invitations?org=${org}`)).json.data[0]).toMatchObject({
      id: made.json.id,
      invited_by: { id: "installation", name: null },
    });
    expect(await accept(made.json.link)).toBe(200);
    expect(await membersOf(org)).toEqual([
      [to, "developer"],
      [email, "owner"],
    ]);
    expect(await linesOf(org)).toContainEqual(["member.invite", "mk_"]);
  });

  test("an invitation is resent with a new link, and withdrawn together with its link", async () => {
    const { org } = await organization();
    const { json: first } = await post("/invitations", { org, email: newAddress(), role: "viewer" });
    const { status, json: again } = await post(`/invitations/${first.id}/resend`, { org });
    expect([status, again.email, again.role, again.id === first.id]).toEqual([
      201,
      first.email,
      "viewer",
      false,
    ]);
    expect(await accept(first.link)).toBe(404);
    const withdrawn = await post(`/invitations/${again.id}/withdraw`, { org });
    expect(withdrawn).toMatchObject({ status: 200, json: { id: again.id, state: "withdrawn" } });
    expect(await accept(again.link)).toBe(404);
    expect(await post(`/invitations/${again.id}/resend`, { org })).toMatchObject({
      status: 404,
      json: { error: { code: "not_found", param: "invitation" } },
    });
  });

  test("roles are changed and members removed; the last owner stays", async () => {
    const { org, person: owner } = await organization();
    const email = newAddress();
    const member = await idOf(await newMember(root, gateway, { org, role: "viewer", email }));
    const changed = await post(`/members/${member}/role`, { org, role: "admin" });
    expect(changed).toMatchObject({ status: 200, json: { email, role: "admin" } });
    const stale = await post(`/members/${member}/role`, { org, role: "billing", version: "long ago" });
    expect([stale.status, stale.json.error.code]).toEqual([409, "changed_meanwhile"]);
    for (const refused of [
      await post(`/members/${owner}/remove`, { org }),
      await post(`/members/${owner}/role`, { org, role: "admin" }),
    ])
      expect(refused).toMatchObject({ status: 409, json: { error: { code: "conflict", param: "member" } } });
    expect((await post(`/members/${member}/remove`, { org })).json).toEqual({ done: true } as never);
    expect((await post(`/members/${member}/remove`, { org })).status).toBe(404);
    expect((await membersOf(org)).length).toBe(1);
    expect(await linesOf(org)).toEqual(
      expect.arrayContaining([
        ["member.role", "mk_"],
        ["member.remove", "mk_"],
      ]),
    );
  });

  test("the key of a former operator invites nobody, and the invitations it sent open nothing", async () => {
    const { org } = await organization();
    const leaving = await newOperator(root, gateway, newAddress());
    const key = await managementKeyOf(leaving);
    const input = { org, email: newAddress(), role: "owner" };
    const { json: made } = await call(key, "POST", "/invitations", input);
    await root.app("DELETE /operator/people/{person}", { person: await idOf(leaving) });
    expect(await accept(made.link)).toBe(404);
    expect((await call(key, "POST", "/invitations", input)).status).toBe(401);
    const { data } = (await get(`/invitations?org=${org}`)).json;
    expect(data.find(({ id }) => id === made.id)?.state).toBe("withdrawn");
  });

  test("an operator who is an admin there changes owners; an admin who is no operator does not", async () => {
    const { org, person: owner } = await organization();
    const second = await newOperator(root, gateway, newAddress());
    const { email } = await second.app("GET /profile").then(({ person }) => person);
    const invited = await root.app(
      "POST /operator/organizations/{org}/invitations",
      { org },
      { email, role: "admin" },
    );
    await second.app("POST /invitations/accept", {}, { token: tokenOf(invited.link) });
    const admin = await newMember(root, gateway, { org, role: "admin", email: newAddress() });
    await newMember(root, gateway, { org, role: "owner", email: newAddress() });
    const at = { org, member: owner };
    const refused = await admin.try("DELETE /orgs/{org}/team/{member}", at);
    expect([refused.status, refused.json.error.code]).toEqual([403, "role_not_permitted"]);
    const changed = await edit(second, "PATCH /orgs/{org}/team/{member}", at, { role: "viewer" });
    expect(changed.role).toBe("viewer");
  });

  test("an unknown organization has no members, invitations or alerts", async () => {
    const org = "org_nobody";
    const rule = { kind: "balance_below", amount_usd: "1", channels: [], on: true };
    for (const [path, body] of [
      [`/members?org=${org}`, null],
      [`/invitations?org=${org}`, null],
      [`/alerts/rules?org=${org}`, null],
      [`/alerts/channels?org=${org}`, null],
      [`/alerts/deliveries?org=${org}`, null],
      [`/credits/list?org=${org}`, null],
      ["/invitations", { org, email: "a@example.com", role: "viewer" }],
      ["/alerts/rules", { org, ...rule }],
      ["/alerts/channels", { org, kind: "webhook", name: "x", target: "https://example.com" }],
      ["/alerts/channels/dashboard/test", { org }],
    ] as const) {
      const answered = body === null ? await get(path) : await post(path, body);
      const { code, param } = answered.json.error;
      expect([path, answered.status, code, param]).toEqual([path, 404, "not_found", "org"]);
    }
  });

  test("rules and channels are made, changed, tested and removed", async () => {
    const { org } = await organization();
    const terms = { kind: "balance_below", amount_usd: "5", channels: [], on: true };
    const { status, json: rule } = await post("/alerts/rules", { org, ...terms });
    expect([status, rule.id.slice(0, 4)]).toEqual([201, "alr_"]);
    const { json: channel } = await post("/alerts/channels", {
      org,
      kind: "webhook",
      name: "Pager",
      target: "https://hooks.example.com/x",
    });
    expect(channel.secret).toStartWith("whsec_");
    const changed = { org, ...terms, channels: [channel.id], on: false };
    const at = `/alerts/rules/${rule.id}/change`;
    expect(await post(at, { ...changed, version: rule.version })).toMatchObject({
      status: 200,
      json: { on: false, channels: [channel.id] },
    });
    expect((await post(at, { ...changed, on: true, version: rule.version })).status).toBe(409);
    expect((await post(at, { ...changed, on: true })).status).toBe(400);
    expect((await post("/alerts/channels/dashboard/test", { org })).json).toMatchObject({
      state: "delivered",
      kind: "test",
    });
    expect((await get(`/alerts/deliveries?org=${org}`)).json.data.length).toBe(1);
    await post(`/alerts/channels/${channel.id}/remove`, { org });
    const [left] = (await get(`/alerts/rules?org=${org}`)).json.data;
    expect(left).toMatchObject({ id: rule.id, channels: [] });
    const kept = { ...changed, on: true, version: left?.version };
    expect(await post(at, kept)).toMatchObject({ status: 200, json: { on: true, channels: [] } });
    const nobody = {
      ...kept,
      channels: ["chn_nobody"],
      version: (await get(`/alerts/rules?org=${org}`)).json.data[0]?.version,
    };
    expect((await post(at, nobody)).json.error).toMatchObject({ code: "not_found", param: "channels" });
    expect((await post(`/alerts/rules/${rule.id}/remove`, { org })).status).toBe(200);
    expect((await post(`/alerts/rules/${rule.id}/remove`, { org })).status).toBe(404);
    expect(
      (await linesOf(org)).filter(([action]) => action?.startsWith("alert_")).map(([, by]) => by),
    ).toEqual(Array.from({ length: 7 }, () => "mk_"));
  });
});
