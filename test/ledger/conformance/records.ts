// What is stored and reported about requests, as every store must keep it: usage, edits, the audit log, previews
// (money.md §10).
import { byItself } from "../../../src/domain/actor.ts";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { versionOf } from "../../../src/domain/row-version.ts";
import { changeKey, findKey } from "../../../src/registry/api-keys.ts";
import { revokeKey } from "../../../src/registry/key-life.ts";
import { approveEntitlement, requestEntitlement } from "../../../src/registry/entitlements.ts";
import {
  authenticateManagementKey,
  createManagementKey,
  ownerOfManagementKey,
  revokeManagementKey,
} from "../../../src/registry/management-keys.ts";
import { findOrganization, renameOrganization } from "../../../src/registry/organizations.ts";
import { readUsageRows } from "../../../src/registry/requests.ts";
import { ask, type Query, textOf } from "../../../src/store/sql.ts";
import { auditLog } from "../../support/audit-log.ts";
import type { Harness } from "./harness.ts";

export function recordsConformance(on: Harness): void {
  describe(`${on.store}: records`, () => {
    beforeAll(on.begin);
    afterAll(on.finish);

    test("usage by key, model and day adds up to the charges", async () => {
      const key = await on.customer(5);
      for (const cents of [10, 20, 30]) {
        const { id } = await on.world.admit(key, { hold: 1 });
        await on.world.settle(key, id, { dollars: cents / 100 });
      }
      const { organizationId } = key;
      for (const groupBy of ["key", "model", "day"] as const) {
        const rows = await readUsageRows(on.ledger, { organizationId, groupBy });
        expect(rows.map(({ requests, inputTokens, charge }) => [requests, inputTokens, charge])).toEqual([
          [3, 60n, 600_000_000n],
        ] as never);
      }
      expect(await readUsageRows(on.ledger, { organizationId, keyId: "key_other" })).toMatchObject([
        { requests: 0 },
      ]);
    });

    test("of edits based on one version one is made; without a version any is", async () => {
      const { keyId } = await on.customer(5);
      const found = await findKey(on.ledger, keyId);
      if (found === null) throw new Error("the key is not there");
      const version = versionOf("key", found);
      const edits = await Promise.all(
        ["a", "b", "c"].map((name) => changeKey(on.ledger, keyId, { name, version }, byItself(name))),
      );
      expect(edits.filter((edit) => edit === "changed_meanwhile")).toHaveLength(2);
      expect(await changeKey(on.ledger, keyId, { limit: null, version }, byItself("late"))).toBe(
        "changed_meanwhile",
      );
      expect(await auditLog(on.ledger, { organizationId: found.organizationId, limit: 1 })).toMatchObject([
        { action: "key.rename" },
      ]);
      const both = { name: "d", limit: 7n as never };
      expect(await changeKey(on.ledger, keyId, both, byItself("script"))).toMatchObject(both);
    });

    test("a change that fails half-way leaves nothing, and others of the same tick are made", async () => {
      const { organizationId } = await on.customer(5);
      const nameOf = async () => (await findOrganization(on.ledger, organizationId))?.name;
      const before = await nameOf();
      const failing = on.ledger.change(null, function* (): Query<void> {
        yield* ask("UPDATE organization SET name = 'half' WHERE org_id = ?1", [organizationId]);
        const [seen] = yield* ask("SELECT name FROM organization WHERE org_id = ?1", [organizationId]);
        throw new Error(`it saw ${textOf(seen?.["name"])}`);
      });
      const [failed, credited, renamed] = await Promise.allSettled([
        failing,
        on.world.topUp(organizationId, 1),
        renameOrganization(on.ledger, organizationId, { from: "nobody's", to: "x", actor: byItself("test") }),
      ]);
      expect(failed).toMatchObject({ status: "rejected", reason: new Error("it saw half") });
      expect(credited).toMatchObject({ value: { kind: "credited" } });
      expect(renamed).toMatchObject({ value: false });
      expect(await nameOf()).toBe(before);
    });

    test("every change of the operator is in the audit log, newest first", async () => {
      const key = await on.customer(5);
      await changeKey(on.ledger, key.keyId, { limit: 5n as never }, byItself("alice"));
      const rename = (id: string) => changeKey(on.ledger, id, { name: "Batch" }, byItself("carol"));
      expect(await rename(key.keyId)).toMatchObject({ name: "Batch", limit: 5n });
      expect(await rename(key.keyId)).toMatchObject({ name: "Batch" });
      expect(await rename("key_doesnotexist")).toBeNull();
      const called = { address: "203.0.113.4", requestId: "req_of_the_call" };
      await revokeKey(on.ledger, key.keyId, { id: "bob", ...called });
      const lines = await auditLog(on.ledger, { organizationId: key.organizationId, limit: 10 });
      expect(lines[0]).toMatchObject({ actor: "bob", ...called });
      expect(lines[1]).toMatchObject({ actor: "carol", address: null, requestId: null });
      expect(lines.map(({ action, actor }) => [action, actor])).toEqual([
        ["key.revoke", "bob"],
        ["key.rename", "carol"],
        ["key.limit", "alice"],
        ["key.create", "test"],
        ["credits.purchase", "test"],
        ["organization.create", "test"],
      ]);
    });

    test("management keys open nothing once revoked", async () => {
      const digest = new Uint8Array(32).fill(7);
      await createManagementKey(
        on.ledger,
        { id: "mk_test", name: "ci", prefix: "gw_mk_test", digest },
        byItself("test"),
      );
      expect((await authenticateManagementKey(on.ledger, "mk_test", digest))?.name).toBe("ci");
      expect(await authenticateManagementKey(on.ledger, "mk_test", new Uint8Array(32))).toBeNull();
      await revokeManagementKey(on.ledger, "mk_test", byItself("test"));
      expect(await authenticateManagementKey(on.ledger, "mk_test", digest)).toBeNull();
    });

    test("a management key belongs to the person who made it or signed in with it, otherwise to the installation", async () => {
      const digest = new Uint8Array(32).fill(8);
      const made = async (id: string, maker: string, personId?: string): Promise<(string | null)[]> => {
        const key = { id, name: "k", prefix: "gw_mk_k", digest };
        const login = personId === undefined ? {} : { loginOf: personId, livesMs: 1_000_000 };
        const { owner } = await createManagementKey(on.ledger, { ...key, ...login }, byItself(maker));
        const read = (await authenticateManagementKey(on.ledger, id, digest))?.owner ?? null;
        return [owner, read, await ownerOfManagementKey(on.ledger, id)];
      };
      const all = (owner: string): string[] => [owner, owner, owner];
      expect(await made("mk_of_ann", "usr_ann")).toEqual(all("usr_ann"));
      expect(await made("mk_login", "usr_ann", "usr_ann")).toEqual(all("usr_ann"));
      expect(await made("mk_start", "start")).toEqual(all("installation"));
      await revokeManagementKey(on.ledger, "mk_of_ann", byItself("test"));
      expect(await ownerOfManagementKey(on.ledger, "mk_of_ann")).toBeNull();
      expect(await ownerOfManagementKey(on.ledger, "mk_nobody")).toBeNull();
    });

    test("nobody approves their own request: a person through their keys, or the installation through any of its own", async () => {
      const { organizationId } = await on.customer(1);
      const hats = {
        usr_bo: "bo",
        mk_bo: "bo",
        mk_one: "house",
        mk_two: "house",
        start: "house",
        usr_cy: "cy",
      };
      const key = { name: "k", prefix: "gw_mk_k", digest: new Uint8Array(32).fill(9) };
      for (const [id, maker] of [
        ["mk_bo", "usr_bo"],
        ["mk_one", "start"],
        ["mk_two", "start"],
      ] as const)
        await createManagementKey(on.ledger, { ...key, id }, byItself(maker));
      for (const [asks, one] of Object.entries(hats))
        for (const [decides, other] of Object.entries(hats)) {
          const id = `ent_${crypto.randomUUID().replaceAll("-", "").slice(0, 12)}`;
          const wish = { id, organizationId, model: "r", project: "p" };
          await requestEntitlement(on.ledger, wish, byItself(asks));
          const outcome = await approveEntitlement(
            on.ledger,
            id,
            { expiresAtMs: on.clock.nowMs() + 1000 },
            byItself(decides),
          );
          const said = typeof outcome === "string" ? outcome : outcome?.status;
          expect([asks, decides, said]).toEqual([
            asks,
            decides,
            one === other ? "second_person_required" : "active",
          ]);
        }
    });

    test("a preview decides like an admission and writes nothing", async () => {
      const key = await on.customer(1);
      const before = await on.world.balance(key.organizationId);
      expect((await on.ledger.preview(on.world.admission(key, { hold: 1 }))).kind).toBe("admitted");
      expect((await on.ledger.preview(on.world.admission(key, { hold: 1.01 }))).kind).toBe("refused");
      expect(await on.world.balance(key.organizationId)).toBe(before);
    });
  });
}
