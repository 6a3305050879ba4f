// Authority does not outlive its holder, on both stores: an offer is worth what its maker may give at the moment when
// it is accepted, and if two people decide concurrently, the second decision sees the result of the first.
import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Role } from "../../src/domain/roles.ts";
import { parseManagementKey } from "../../src/registry/secret.ts";
import { Browser, firstOperator, newMember, newOperator, PASSWORD, tokenOf } from "../support/browser.ts";
import { type TestClock, testClock } from "../support/clock.ts";
import { poll } from "../support/device.ts";
import { forgetPerson } from "../support/forgotten-person.ts";
import { startGateway, STORES, type Store, type TestGateway } from "../support/gateway.ts";
import { approvedCode, callAdmin, loginOf, managementKeyOf } from "../support/hats.ts";
import { RESEARCH } from "../support/models.ts";
import { edit } from "../support/versions.ts";

/** Every password takes a tenth of a second of CPU. */
setDefaultTimeout(60_000);

describe.each([...STORES])("%s", (store: Store) => {
  let clock: TestClock;
  let gateway: TestGateway;
  let root: Browser;
  let count = 0;
  beforeAll(async () => {
    clock = testClock();
    gateway = await startGateway({ store, clock, configure: (config) => (config.signIn.perMinute = 10_000) });
    root = await firstOperator(gateway);
  }, 120_000);
  afterAll(() => gateway.stop());

  const newAddress = (): string => `person${++count}@example.com`;
  const idOf = async (browser: Browser): Promise<string> => {
    const { person } = await browser.app("GET /session");
    if (person === null) throw new Error("not signed in");
    return person.id;
  };
  async function organization(): Promise<{
    org: string;
    owner: Browser;
    join: (role: Role) => Promise<Browser>;
  }> {
    const org = (await root.app("POST /operator/organizations", {}, { name: "Acme" })).id;
    const join = (role: Role): Promise<Browser> =>
      newMember(root, gateway, { org, role, email: newAddress() });
    return { org, owner: await join("owner"), join };
  }
  const invite = async (by: Browser, org: string, role: Role, email = newAddress()) => ({
    ...(await by.app("POST /orgs/{org}/invitations", { org }, { email, role })),
    email,
  });
  const accept = (link: string | null) =>
    new Browser(gateway.url).try(
      "POST /invitations/accept",
      {},
      { token: tokenOf(link), account: { name: "New", password: PASSWORD } },
    );
  const show = async (link: string | null): Promise<number> =>
    (await new Browser(gateway.url).try("POST /invitations/show", {}, { token: tokenOf(link) })).status;
  const idIn = (key: string): string => parseManagementKey(key)?.id ?? "";
  const codeOf = ({ status, json }: Awaited<ReturnType<typeof accept>>) =>
    status < 400 ? status : [status, json.error.code];

  describe("an invitation", () => {
    const LOSSES = ["removed", "demoted", "deleted"] as const;
    const OFFERS: [Role, Role][] = [
      ["owner", "owner"],
      ["owner", "admin"],
      ["admin", "admin"],
      ["admin", "viewer"],
    ];
    for (const loss of LOSSES)
      for (const [giver, role] of OFFERS)
        test(`as ${role} by an ${giver} who was ${loss} opens nothing`, async () => {
          const { org, owner, join } = await organization();
          const by = await join(giver);
          const member = await idOf(by);
          const { link, id } = await invite(by, org, role);
          expect(await show(link)).toBe(200);
          if (loss === "removed") await owner.app("DELETE /orgs/{org}/team/{member}", { org, member });
          if (loss === "demoted")
            await edit(owner, "PATCH /orgs/{org}/team/{member}", { org, member }, { role: "developer" });
          if (loss === "deleted") await forgetPerson(gateway, store, member);
          expect(await show(link)).toBe(404);
          expect(codeOf(await accept(link))).toEqual([404, "not_found"]);
          if (loss === "deleted") return;
          const rows = (await owner.app("GET /orgs/{org}/invitations", { org })).data;
          expect(rows.find((row) => row.id === id)?.state).toBe("withdrawn");
        });

    for (const loss of ["removed", "deleted"] as const)
      test(`by an operator who was ${loss} opens nothing, into an organization or among operators`, async () => {
        const { org } = await organization();
        const operator = await newOperator(root, gateway, newAddress());
        const person = await idOf(operator);
        const into = { email: newAddress(), role: "owner" };
        const made = await operator.app("POST /operator/organizations/{org}/invitations", { org }, into);
        const among = await operator.app("POST /operator/people", {}, { email: newAddress() });
        if (loss === "removed") await root.app("DELETE /operator/people/{person}", { person });
        else await forgetPerson(gateway, store, person);
        for (const { link } of [made, among]) {
          expect(await show(link)).toBe(404);
          expect(codeOf(await accept(link))).toEqual([404, "not_found"]);
        }
      });

    test("of a person who may give less now is good for what they still may give", async () => {
      const { org, owner, join } = await organization();
      const second = await join("owner");
      const [asOwner, asViewer] = [await invite(second, org, "owner"), await invite(second, org, "viewer")];
      const member = await idOf(second);
      await edit(owner, "PATCH /orgs/{org}/team/{member}", { org, member }, { role: "admin" });
      expect(codeOf(await accept(asOwner.link))).toEqual([404, "not_found"]);
      expect(codeOf(await accept(asViewer.link))).toBe(200);
    });

    test("an owner's invitation cannot be withdrawn or replaced by an admin; all others can", async () => {
      const { org, owner, join } = await organization();
      const admin = await join("admin");
      const [asOwner, asAdmin] = [await invite(owner, org, "owner"), await invite(owner, org, "admin")];
      const withdraw = (by: Browser, invitation: string) =>
        by.try("DELETE /orgs/{org}/invitations/{invitation}", { org, invitation });
      const less = { email: asOwner.email, role: "viewer" };
      expect(codeOf(await withdraw(admin, asOwner.id))).toEqual([403, "role_not_permitted"]);
      expect(codeOf(await admin.try("POST /orgs/{org}/invitations", { org }, less))).toEqual([
        403,
        "role_not_permitted",
      ]);
      expect([await show(asOwner.link), codeOf(await withdraw(admin, asAdmin.id))]).toEqual([200, 200]);
      expect([codeOf(await withdraw(owner, asOwner.id)), await show(asOwner.link)]).toEqual([200, 404]);
    });

    test("to a person who was removed meanwhile is withdrawn; a later one lets them in again", async () => {
      const { org, owner, join } = await organization();
      const email = newAddress();
      const waiting = await invite(owner, org, "admin", email);
      const person = await newMember(root, gateway, {
        org: (await organization()).org,
        role: "viewer",
        email,
      });
      await person.app("POST /invitations/accept", {}, { token: tokenOf(waiting.link) });
      const twice = await owner.try("POST /orgs/{org}/invitations", { org }, { email, role: "viewer" });
      expect(codeOf(twice)).toEqual([409, "conflict"]);
      expect(twice.json.error.message).toContain("already a member, as admin");
      await owner.app("DELETE /orgs/{org}/team/{member}", { org, member: await idOf(person) });
      const again = await invite(await join("admin"), org, "viewer", email);
      const back = await person.app("POST /invitations/accept", {}, { token: tokenOf(again.link) });
      expect(back.person?.memberships.find((row) => row.org === org)?.role).toBe("viewer");
    });

    test("used twice concurrently lets one in; if the account cannot be made it stays open", async () => {
      const { org, owner } = await organization();
      const { link } = await invite(owner, org, "viewer");
      const short = { token: tokenOf(link), account: { name: "New", password: "short" } };
      expect((await new Browser(gateway.url).try("POST /invitations/accept", {}, short)).status).toBe(400);
      const taken = await Promise.all([accept(link), accept(link), accept(link)]);
      expect(taken.filter(({ status }) => status === 200)).toHaveLength(1);
      expect((await owner.app("GET /orgs/{org}/team", { org })).data).toHaveLength(2);
    });
  });

  describe("what an operator delegated", () => {
    // Past the throttle of sign-ins.
    beforeEach(() => clock.advance(11 * 60_000));
    /** A link for another person's password, and whether it still works. */
    const resetBy = async (link: string | null | undefined): Promise<() => Promise<number>> => {
      const reset = { token: tokenOf(link ?? null), password: "another correct horse" };
      return async () => (await new Browser(gateway.url).try("POST /reset", {}, reset)).status;
    };
    const victim = async (): Promise<string> => {
      const { org } = await organization();
      const email = newAddress();
      await newMember(root, gateway, { org, role: "viewer", email });
      return email;
    };
    const resetWith = async (key: string) => {
      const body = { person: await victim() };
      return await resetBy((await callAdmin(gateway.url, key, ["POST", "/people/reset"], body)).json.link);
    };
    const listsWith = (key: string) => async () =>
      (await callAdmin(gateway.url, key, ["GET", "/organizations"])).status;
    /** Each as the call that uses it: returns its status. */
    const DELEGATED: Record<string, (by: Browser) => Promise<() => Promise<number>>> = {
      "a management key": async (by) => listsWith(await managementKeyOf(by)),
      "a login of their command line": async (by) => listsWith(await loginOf(gateway.url, by)),
      "a login that they approved and no terminal has fetched": async (by) => {
        const code = await approvedCode(gateway.url, by);
        return async () => (await poll(gateway.url, code)).status;
      },
      "a link for a new password, made at the dashboard": async (by) => {
        const email = await victim();
        const { data } = await by.app("GET /operator/people", {}, undefined, `?search=${email}`);
        const person = data[0]?.person.id ?? "";
        return await resetBy((await by.app("POST /operator/people/{person}/reset", { person })).link);
      },
      "a link for a new password, made by their key": async (by) => resetWith(await managementKeyOf(by)),
      "a link for a new password, made by their login": async (by) =>
        resetWith(await loginOf(gateway.url, by)),
    };

    for (const [thing, make] of Object.entries(DELEGATED))
      for (const loss of ["kept", "removed", "deleted"] as const)
        test(`${thing} ${loss === "kept" ? "works while they are one" : `opens nothing once they are ${loss}`}`, async () => {
          const operator = await newOperator(root, gateway, newAddress());
          const use = await make(operator);
          const person = await idOf(operator);
          if (loss === "removed") await root.app("DELETE /operator/people/{person}", { person });
          if (loss === "deleted") await forgetPerson(gateway, store, person);
          const status = await use();
          expect([thing, loss, status < 400]).toEqual([thing, loss, loss === "kept"]);
        });

    test("an orphaned key shows whose it was; the installation's own and all others keep working", async () => {
      const operator = await newOperator(root, gateway, newAddress());
      const [theirs, other] = [await managementKeyOf(operator), await managementKeyOf(root)];
      const person = await idOf(operator);
      const owned = (await root.app("GET /operator/management-keys")).data.filter(
        ({ owner }) => owner?.id === person,
      );
      expect(owned).toHaveLength(1);
      await forgetPerson(gateway, store, person);
      const { status, json } = await callAdmin(gateway.url, theirs, ["GET", "/organizations"]);
      expect([status, json.error?.code]).toEqual([401, "invalid_api_key"]);
      expect(json.error?.message).toContain("is no longer an operator");
      expect((await gateway.admin("GET", "/organizations")).status).toBe(200);
      expect(await listsWith(other)()).toBe(200);
    });

    test("a link for a new password ends with the key that made it", async () => {
      const { id: key, secret } = await root.app("POST /operator/management-keys", {}, { name: "Leaked" });
      const [first, second] = [await resetWith(secret ?? ""), await resetWith(secret ?? "")];
      expect(await first()).toBe(200);
      await root.app("POST /operator/management-keys/{key}/revoke", { key });
      expect(await second()).toBe(410);
    });

    test("an old key, orphaned when an older gateway removed its owner, stays dead when the role is given back", async () => {
      const email = newAddress();
      const operator = await newOperator(root, gateway, email);
      const [key, person] = [await managementKeyOf(operator), await idOf(operator)];
      await root.app("DELETE /operator/people/{person}", { person });
      // As an older gateway version leaves it: the role is gone, the key is not.
      await gateway.tamper(
        "UPDATE management_key SET revoked_at = NULL WHERE login_of IS NULL AND id = ?1",
        idIn(key),
      );
      expect(await listsWith(key)()).toBe(401);
      const { link } = await root.app("POST /operator/people", {}, { email });
      await operator.send("POST", "/auth/sign-in/email", { email, password: PASSWORD });
      await operator.app("POST /invitations/accept", {}, { token: tokenOf(link) });
      expect(await listsWith(key)()).toBe(401);
    });

    test("a removed operator has no open key in the list, and none comes back with the role", async () => {
      const email = newAddress();
      const operator = await newOperator(root, gateway, email);
      const keys = [await managementKeyOf(operator), await loginOf(gateway.url, operator)];
      const person = await idOf(operator);
      await root.app("DELETE /operator/people/{person}", { person });
      const states = (await root.app("GET /operator/management-keys")).data
        .filter(({ owner }) => owner?.id === person)
        .map(({ state }) => state);
      expect(states).toEqual(["revoked", "revoked"]);
      const { link } = await root.app("POST /operator/people", {}, { email });
      const back = new Browser(gateway.url);
      await back.send("POST", "/auth/sign-in/email", { email, password: PASSWORD });
      await back.app("POST /invitations/accept", {}, { token: tokenOf(link) });
      for (const key of keys) expect(await listsWith(key)()).toBe(401);
    });

    test("a new password ends the logins of the command line, by a link or on the profile, and no key of a script", async () => {
      for (const change of ["link", "profile", "elsewhere"] as const) {
        clock.advance(11 * 60_000);
        const operator = await newOperator(root, gateway, newAddress());
        const [login, script] = [await loginOf(gateway.url, operator), await managementKeyOf(operator)];
        const person = await idOf(operator);
        if (change === "link") {
          const made = await root.app("POST /operator/people/{person}/reset", { person });
          expect(await (await resetBy(made.link))()).toBe(200);
        } else if (change === "profile")
          await operator.app(
            "POST /profile/password",
            {},
            { current: PASSWORD, next: "another correct horse" },
          );
        else await operator.app("POST /profile/sessions/end-others");
        expect([await listsWith(login)(), await listsWith(script)()]).toEqual([401, 200]);
      }
    });

    test("the request of a person who left cannot be approved", async () => {
      const { org, owner, join } = await organization();
      for (const loss of ["removed", "demoted", "kept"] as const) {
        const developer = await join("developer");
        const member = await idOf(developer);
        const asked = { model: RESEARCH.model, project: "p", purpose: "q" };
        const { id: entitlement } = await developer.app("POST /orgs/{org}/research", { org }, asked);
        if (loss === "removed") await owner.app("DELETE /orgs/{org}/team/{member}", { org, member });
        if (loss === "demoted")
          await edit(owner, "PATCH /orgs/{org}/team/{member}", { org, member }, { role: "viewer" });
        const expires = new Date(clock.nowMs() + 86_400_000).toISOString();
        const route = "POST /operator/entitlements/{entitlement}/approve";
        const page = await root.try(route, { entitlement }, { expires });
        expect([loss, codeOf(page)]).toEqual([loss, loss === "kept" ? 200 : [409, "conflict"]]);
        if (loss === "kept") continue;
        const api = await gateway.admin("POST", `/entitlements/${entitlement}/approve`, { expires });
        expect(api.status).toBe(409);
        await root.app(
          "POST /operator/entitlements/{entitlement}/decline",
          { entitlement },
          { reason: "left" },
        );
      }
    });
  });

  describe("a live tail ends within seconds", () => {
    /** Milliseconds until it ends. */
    async function ends(browser: Browser, org: string, loss: () => Promise<unknown>): Promise<number> {
      const headers = { cookie: browser.cookie };
      const path = `/app/v1/orgs/${org}/activity/tail`;
      const tail = await fetch(gateway.url + path, { headers, signal: AbortSignal.timeout(90_000) });
      expect(tail.status).toBe(200);
      const lostAtMs = await loss().then(() => Date.now());
      await tail.text();
      return Date.now() - lostAtMs;
    }
    /** It is looked at every few seconds; without that it would not end at all. */
    const WITHIN_MS = 60_000;

    test("of a removed member, of a person who signs out, and of a former operator", async () => {
      const { org, owner, join } = await organization();
      const [removed, leaves] = [await join("viewer"), await join("viewer")];
      const operator = await newOperator(root, gateway, newAddress());
      const [member, person] = [await idOf(removed), await idOf(operator)];
      const took = await Promise.all([
        ends(removed, org, () => owner.app("DELETE /orgs/{org}/team/{member}", { org, member })),
        ends(leaves, org, () => leaves.copy().send("POST", "/auth/sign-out")),
        ends(operator, org, () => root.app("DELETE /operator/people/{person}", { person })),
      ]);
      for (const ms of took) expect(ms).toBeLessThan(WITHIN_MS);
    });
  });

  const ROUNDS = 6;

  test("a member promoted a moment ago is not removed under their old role", async () => {
    const { org, owner, join } = await organization();
    const admin = await join("admin");
    for (let round = 0; round < ROUNDS; round++) {
      const member = await idOf(await join("viewer"));
      const answers = await Promise.all([
        edit(owner, "PATCH /orgs/{org}/team/{member}", { org, member }, { role: "owner" }).then(
          () => "promoted",
          () => "refused",
        ),
        admin
          .try("DELETE /orgs/{org}/team/{member}", { org, member })
          .then(({ status }) => (status === 200 ? "removed" : "refused")),
      ]);
      expect(answers.filter((answer) => answer !== "refused")).toHaveLength(1);
      const left = (await owner.app("GET /orgs/{org}/team", { org })).data.some(
        ({ person }) => person.id === member,
      );
      expect(left).toBe(answers.includes("promoted"));
    }
  });

  test("of two owners who remove each other concurrently one succeeds, however many there are", async () => {
    const { org, join } = await organization();
    for (let round = 0; round < ROUNDS; round++) {
      const [a, b] = [await join("owner"), await join("owner")];
      const [idA, idB] = [await idOf(a), await idOf(b)];
      const answers = await Promise.all([
        a.try("DELETE /orgs/{org}/team/{member}", { org, member: idB }),
        b.try("DELETE /orgs/{org}/team/{member}", { org, member: idA }),
      ]);
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    }
  });

  test("of two operators who remove each other concurrently one succeeds, and one is left", async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const [a, b] = [
        await newOperator(root, gateway, newAddress()),
        await newOperator(root, gateway, newAddress()),
      ];
      const [idA, idB] = [await idOf(a), await idOf(b)];
      const answers = await Promise.all([
        a.try("DELETE /operator/people/{person}", { person: idB }),
        b.try("DELETE /operator/people/{person}", { person: idA }),
      ]);
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      const listed = await Promise.all(
        [idA, idB].map((id) => root.app("GET /operator/people", {}, undefined, `?search=${id}`)),
      );
      expect(listed.flatMap(({ data }) => data).filter(({ operator }) => operator)).toHaveLength(1);
    }
  });

  test("nobody can remove their own operator role", async () => {
    const self = await root.try("DELETE /operator/people/{person}", { person: await idOf(root) });
    expect(codeOf(self)).toEqual([409, "conflict"]);
  });
});
