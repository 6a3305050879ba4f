// Decisions about people based on what was true a moment ago: the store refuses them, whatever the page had shown.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { OperatorRefusal } from "../../src/domain/operator-refusals.ts";
import type { People, Visitor } from "../../src/people/people.ts";
import type { Role } from "../../src/domain/roles.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { firstRunToken } from "../../src/people/first-run.ts";
import { openPeople } from "../../src/people/open.ts";
import { openPeopleStore } from "../../src/people/open-store.ts";
import { PASSWORD } from "../support/browser.ts";
import { STORES, type Store } from "../support/gateway.ts";
import { type TestDatabase, testPostgres } from "../support/postgres.ts";

setDefaultTimeout(60_000);

const SECRET = "a secret of this test, long enough for cookies";
const NOBODY: Visitor = { headers: new Headers(), address: null };

describe.each([...STORES])("%s", (store: Store) => {
  const dataDir = mkdtempSync(join(tmpdir(), "tollgate-people-"));
  let database: TestDatabase | null = null;
  let people: People;
  let root: string;
  let count = 0;

  beforeAll(async () => {
    if (store === "postgres") database = await (await testPostgres()).migrated();
    people = await openPeople({
      clock: systemClock,
      openStore: () => openPeopleStore({ dataDir, databaseUrl: database?.url ?? null }),
      carry: async () => {},
      secret: SECRET,
      url: "http://localhost:1",
      origins: ["http://localhost:1"],
      oidc: [],
      signInsPerMinute: 10_000,
      ownerOfManagementKey: async () => null,
    });
    const account = { name: "Root", email: "root@example.com", password: PASSWORD };
    const person = await people.welcome(firstRunToken(SECRET, Date.now()), account, NOBODY);
    root = person.id;
  });
  afterAll(async () => {
    await people.close();
    await database?.drop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const invited = (organizationId: string | null, role: Role) =>
    people.invite({ organizationId, email: `person${++count}@example.com`, role, invitedBy: root });
  async function comes(organizationId: string | null, role: Role = "viewer"): Promise<string> {
    const { token } = await invited(organizationId, role);
    const as = { account: { name: "Somebody", password: PASSWORD }, visitor: NOBODY };
    return (await people.accept(token, as)).person.id;
  }
  const refusalOf = (deed: Promise<unknown>): Promise<string> =>
    deed.then(
      () => "done",
      (error: OperatorRefusal) => error.code,
    );

  test("a member who was promoted meanwhile is not removed or changed under their old role", async () => {
    const [owner, admin, member] = [
      await comes("o1", "owner"),
      await comes("o1", "admin"),
      await comes("o1"),
    ];
    const at = { organizationId: "o1", personId: member };
    await people.changeRole(at, { from: "viewer", to: "owner", by: owner });
    const removed: unknown = await people.remove(at, { from: "viewer", by: admin }).catch((error) => error);
    expect(removed).toMatchObject({ code: "changed_meanwhile", param: null }); // a removal names no version
    expect(await refusalOf(people.changeRole(at, { from: "viewer", to: "billing", by: admin }))).toBe(
      "changed_meanwhile",
    );
    expect(await refusalOf(people.remove(at, { from: "owner", by: admin }))).toBe("role_not_permitted");
    expect((await people.membership("o1", member))?.role).toBe("owner");
  });

  test("a person who was demoted or removed meanwhile changes and removes nobody, and gives no role beyond their own rights", async () => {
    const [owner, acting, member] = [
      await comes("o2", "owner"),
      await comes("o2", "admin"),
      await comes("o2"),
    ];
    const at = { organizationId: "o2", personId: member };
    const byAdmin = { from: "viewer", to: "owner", by: acting } as const;
    expect(await refusalOf(people.changeRole(at, byAdmin))).toBe("role_not_permitted");
    await people.changeRole({ ...at, personId: acting }, { from: "admin", to: "developer", by: owner });
    for (const deed of [
      () => people.remove(at, { from: "viewer", by: acting }),
      () => people.changeRole(at, { from: "viewer", to: "billing", by: acting }),
      () => people.remove({ ...at, personId: owner }, { from: "owner", by: acting }),
    ])
      expect(await refusalOf(deed())).toBe("role_not_permitted");
    await people.remove({ ...at, personId: acting }, { from: "developer", by: owner });
    expect(await refusalOf(people.remove(at, { from: "viewer", by: acting }))).toBe("role_not_permitted");
    expect(await refusalOf(people.remove(at, { from: "viewer", by: owner }))).toBe("done");
  });

  test("the last owner neither leaves nor steps down; all others can leave", async () => {
    const [owner, viewer] = [await comes("o3", "owner"), await comes("o3")];
    const at = (personId: string) => ({ organizationId: "o3", personId });
    expect(await refusalOf(people.remove(at(owner), { from: "owner", by: owner }))).toBe("conflict");
    const down = { from: "owner", to: "viewer", by: owner } as const;
    expect(await refusalOf(people.changeRole(at(owner), down))).toBe("conflict");
    expect(await refusalOf(people.remove(at(viewer), { from: "viewer", by: viewer }))).toBe("done");
  });

  test("a former operator removes none, and a person who is not an operator cannot be removed as one", async () => {
    const [one, two, member] = [await comes(null), await comes(null), await comes("o4")];
    expect(await refusalOf(people.removeOperator(member, one))).toBe("not_found");
    expect(await refusalOf(people.removeOperator(one, one))).toBe("conflict");
    await people.removeOperator(one, two);
    expect(await refusalOf(people.removeOperator(root, one))).toBe("role_not_permitted");
    expect(await refusalOf(people.removeOperator(two, member))).toBe("role_not_permitted");
  });

  test("an invitation is withdrawn only by a person who could make it now", async () => {
    const [admin, owner] = [await comes("o5", "admin"), await comes("o5", "owner")];
    const { invitation } = await invited("o5", "owner");
    const withdraw = (by: string) => refusalOf(people.withdrawInvitation("o5", invitation.id, by));
    for (const by of [admin, await comes("o5"), await comes("elsewhere", "owner")])
      expect(await withdraw(by)).toBe("role_not_permitted");
    expect([await withdraw(owner), await withdraw(owner)]).toEqual(["done", "done"]);
  });

  test("two invitations of one person accepted concurrently make one membership", async () => {
    const email = `person${++count}@example.com`;
    const both = [await comes("o6", "owner"), await comes("o6", "owner")].map((invitedBy, place) =>
      people.invite({ organizationId: "o6", email, role: place === 0 ? "admin" : "viewer", invitedBy }),
    );
    const as = { account: { name: "Somebody", password: PASSWORD }, visitor: NOBODY };
    const taken = await Promise.all(
      (await Promise.all(both)).map(({ token }) => refusalOf(people.accept(token, as))),
    );
    expect(taken.filter((outcome) => outcome === "done").length).toBeLessThanOrEqual(1);
    const person = await people.personNamed(email);
    const here = (await people.memberships({ organizationId: "o6" })).filter(
      ({ personId }) => personId === person?.id,
    );
    expect(here.length).toBe(taken.filter((outcome) => outcome === "done").length);
  });
});
