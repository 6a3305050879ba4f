// Invalid stored times, and stored answers that are not JSON: the page, the list, the file and their neighbours are
// complete, and the place itself says that it is damaged.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Browser, firstOperator, newMember, tokenOf } from "../support/browser.ts";
import { type Disk, openDisk } from "../support/damage.ts";
import { type Customer, hello, startGateway, STORES, type TestGateway } from "../support/gateway.ts";

const NO_TIME = "9223372036854775807";

describe.each(STORES)("on %s", (store) => {
  let gateway: TestGateway;
  let disk: Disk;
  let root: Browser;
  let member: Browser;
  let customer: Customer;
  let org: string;
  let person: string;

  beforeAll(async () => {
    let databaseUrl: string | null = null;
    gateway = await startGateway({
      store,
      configure: (config) => {
        databaseUrl = config.databaseUrl;
      },
    });
    root = await firstOperator(gateway);
    customer = await gateway.customer({ limitUsd: "0" });
    org = customer.organizationId;
    member = await newMember(root, gateway, { org, role: "owner", email: "member@example.com" });
    await newMember(root, gateway, { org, role: "viewer", email: "well@example.com" });
    person = (await member.app("GET /session")).person?.id ?? "";
    disk = await openDisk({ dataDir: gateway.dataDir, databaseUrl });
  });
  afterAll(async () => {
    await disk.close();
    await gateway.stop();
  });

  const damagePeople = (statement: string): Promise<unknown> => disk.rows("people", statement);
  const damageLedger = (statement: string, value: string): Promise<unknown> =>
    disk.rows("ledger", statement, value);
  const people = (table: string): string => disk.named("people", table);

  test("a membership's times: Team and People say so, and the member's next call rewrites them", async () => {
    await damagePeople(
      `UPDATE ${people("membership")} SET "seenAt" = ${NO_TIME}, "joinedAt" = ${NO_TIME} WHERE "personId" = '${person}'`,
    );
    const everybody = (await root.app("GET /operator/people")).data;
    expect(everybody.find((one) => one.person.id === person)?.last_seen_at).toBe("damaged");
    expect(everybody.map(({ email }) => email).toSorted((a, b) => a.localeCompare(b))).toEqual([
      "member@example.com",
      "root@example.com",
      "well@example.com",
    ]);
    const { data: team } = await root.app("GET /orgs/{org}/team", { org });
    expect(team).toHaveLength(2);
    expect(team.find((one) => one.person.id === person)).toMatchObject({ joined_at: "damaged" });
    expect(team.find((one) => one.person.id !== person)?.last_seen_at).toStartWith("20");
    await member.app("GET /orgs/{org}/overview", { org });
    const { data: again } = await root.app("GET /orgs/{org}/team", { org });
    expect(again.find((one) => one.person.id === person)?.last_seen_at).toStartWith("20");
  });

  test("a session's and an account's times: its person reads the profile and may end it", async () => {
    const never = store === "sqlite" ? "'garbage'" : "'294276-12-31T00:00:00Z'";
    const other = member.copy();
    await damagePeople(`UPDATE ${people("session")} SET "updatedAt" = ${never} WHERE "userId" = '${person}'`);
    await damagePeople(`UPDATE ${people("user")} SET "createdAt" = ${never} WHERE id = '${person}'`);
    const { sessions } = await other.app("GET /profile");
    expect(sessions[0]?.last_seen_at).toBe("damaged");
    expect((await gateway.admin("GET", "/people")).text).toContain('"created_at":"damaged"');
  });

  test("an invalid expiry opens nothing: no session, no invitation", async () => {
    const leaving = await newMember(root, gateway, { org, role: "viewer", email: "leaving@example.com" });
    const id = (await leaving.app("GET /session")).person?.id ?? "";
    const never = store === "sqlite" ? "'garbage'" : "'294276-12-31T00:00:00Z'";
    await damagePeople(`UPDATE ${people("session")} SET "expiresAt" = ${never} WHERE "userId" = '${id}'`);
    expect((await leaving.app("GET /session")).person).toBeNull();
    expect((await leaving.try("GET /profile")).status).toBe(401);
    if (store !== "sqlite") return; // PostgreSQL stores these times as numbers
    const body = { email: "late@example.com", role: "viewer" };
    const { link } = await root.app("POST /operator/organizations/{org}/invitations", { org }, body);
    await damagePeople(`UPDATE invitation SET "expiresAt" = 'garbage' WHERE email = 'late@example.com'`);
    const shown = await root.try("POST /invitations/show", {}, { token: tokenOf(link) });
    expect(shown.json.error.code).toBe("not_found");
  });

  test("the time of a line of the audit log: the page and the file have the others, and name it", async () => {
    await damageLedger(
      `UPDATE audit_log SET at = ${NO_TIME} WHERE org_id = ?1 AND action = 'key.create'`,
      org,
    );
    const { data } = await root.app("GET /orgs/{org}/audit", { org });
    expect(data.filter(({ at }) => at === "damaged").map(({ action }) => action)).toEqual(["key.create"]);
    for (const [who, path] of [
      [root, `/orgs/${org}/audit.csv`],
      [member, `/orgs/${org}/audit.csv`],
      [root, "/operator/audit.csv"],
    ] as const) {
      const { status, text } = await who.send("GET", `/app/v1${path}`);
      expect(status).toBe(200);
      expect(text.split("\r\n").filter((line) => line.includes(",damaged,"))).toEqual([
        expect.stringContaining("key.create"),
      ]);
      expect(text).toContain("member.join");
    }
  });

  test("the figures of a refusal, and the time of a request: Activity shows the rows and their other fields", async () => {
    const refused = await gateway.chat(customer, hello());
    expect(refused.status).toBe(403);
    const id = refused.headers.get("x-request-id") ?? "";
    await root.app("GET /orgs/{org}/activity", { org }); // writes the log of refusals
    await damageLedger(
      `UPDATE journal SET details = '{"limit', last_at = ${NO_TIME} WHERE request_id = ?1`,
      id,
    );
    const { data } = await root.app("GET /orgs/{org}/activity", { org });
    expect(data.find((row) => row.id === id)).toMatchObject({
      details: { figures: "damaged" },
      last_at: "damaged",
    });
    const shown = await gateway.get(customer, `/v1/generation?id=${id}`);
    expect([shown.status, shown.text.includes('"last_at":"damaged"')]).toEqual([200, true]);
  });

  test("a request with damaged times gets no signed receipt; the answer names it", async () => {
    const other = await gateway.customer();
    const asked = await gateway.chat(other, hello());
    const id = asked.headers.get("x-request-id") ?? "";
    await damageLedger(`UPDATE request SET ended_at = ${NO_TIME} WHERE request_id = ?1`, id);
    const receipt = await gateway.get(other, `/v1/receipts/${id}`);
    expect([receipt.status, receipt.text]).toEqual([
      500,
      expect.stringContaining(`the record of request ${id}`),
    ]);
    expect((await gateway.get(other, `/v1/generation?id=${id}`)).status).toBe(200);
  });

  // Only SQLite can store such an hour: PostgreSQL has no partition for it.
  test.if(store === "sqlite")("an hour that is none: usage by day says so", async () => {
    const other = await gateway.customer();
    await gateway.chat(other, hello());
    await damageLedger(
      `UPDATE usage_hour SET hour = 9007199254740991 WHERE org_id = ?1`,
      other.organizationId,
    );
    const usage = await gateway.admin("GET", `/usage?org=${other.organizationId}&group_by=day`);
    expect([usage.status, usage.text.includes('"damaged"')]).toEqual([200, true]);
  });

  test("a key is revoked whatever its organization's newest timestamp says", async () => {
    const other = await gateway.customer();
    await damageLedger(
      `UPDATE org_balance SET stamped_at = ${NO_TIME} WHERE org_id = ?1`,
      other.organizationId,
    );
    expect((await gateway.chat(other, hello())).status).toBe(200);
    expect((await gateway.admin("POST", `/keys/${other.keyId}/revoke`)).status).toBe(200);
    expect((await gateway.chat(other, hello())).status).toBe(401);
  });

  test("a form's kept answer that is damaged is refused, and the form does nothing again", async () => {
    const post = () =>
      root.send(
        "POST",
        "/app/v1/operator/management-keys",
        { name: "once" },
        { "idempotency-key": "once-00001" },
      );
    expect((await post()).status).toBe(201);
    await damagePeople(`UPDATE ${people("rememberedAnswer")} SET answer = '{"id' WHERE answer IS NOT NULL`);
    const again = await post();
    expect([again.status, again.text]).toEqual([
      409,
      expect.stringContaining("idempotency_result_not_retained"),
    ]);
    const { data } = await root.app("GET /operator/management-keys");
    expect(data.filter(({ name }) => name === "once")).toHaveLength(1);
  });
});
