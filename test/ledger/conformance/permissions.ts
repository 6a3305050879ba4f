// Who may call what, as every store must keep it: scopes, paid workspaces, entitlements, closed routes, releases
// (money.md §7).
import { byItself } from "../../../src/domain/actor.ts";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { exactPrice } from "../../../src/domain/price.ts";
import { PRICE, type KeyInHand, jwsOf, releaseOf, saysOf } from "../world.ts";
import { changeKey } from "../../../src/registry/api-keys.ts";
import { revokeKey } from "../../../src/registry/key-life.ts";
import {
  approveEntitlement,
  closeRequest,
  findEntitlement,
  activeEntitlements,
  requestEntitlement,
  revokeEntitlement,
} from "../../../src/registry/entitlements.ts";
import { publishRelease, setRouteDisabled } from "../../../src/registry/releases.ts";
import type { Harness } from "./harness.ts";
import { entitlementsOf } from "../../support/registry-reads.ts";

export function permissionsConformance(on: Harness): void {
  describe(`${on.store}: who may call what`, () => {
    const research = releaseOf({ model: "r", tier: "research" });
    const paid = releaseOf({ model: "paid", requiresPaid: true });
    beforeAll(async () => {
      await on.begin();
      await on.world.publish({ model: "r", tier: "research" });
      await on.world.publish({ model: "paid", requiresPaid: true });
    });
    afterAll(on.finish);

    const ask = async (organizationId: string, model: string): Promise<string> => {
      const id = `ent_${crypto.randomUUID().replaceAll("-", "").slice(0, 12)}`;
      const entitlement = { id, organizationId, model, project: "p" };
      const asked = await requestEntitlement(on.ledger, entitlement, byItself("usr_asks"));
      return typeof asked === "string" ? asked : (asked?.id ?? "no organization");
    };
    const approve = (id: string, days: number): Promise<unknown> =>
      approveEntitlement(
        on.ledger,
        id,
        { expiresAtMs: on.clock.nowMs() + days * 86_400_000 },
        byItself("usr_decides"),
      );
    const entitle = async (organizationId: string, model: string, days: number): Promise<string> => {
      const id = await ask(organizationId, model);
      await approve(id, days);
      return id;
    };

    test("an organization has only so many open requests, and so many requests a day; decided or old ones make room", async () => {
      const [org, other] = [await on.world.organization(0), await on.world.organization(0)];
      const asked: string[] = [];
      for (let n = 0; n < 20; n += 1) asked.push(await ask(org, "r"));
      expect(await ask(org, "another model")).toBe("too_many_open");
      expect(await ask(other, "r")).toStartWith("ent_");
      const [first = "", second = ""] = asked;
      await approve(first, 1);
      await revokeEntitlement(on.ledger, second, byItself("usr_decides"));
      expect([await ask(org, "r"), await ask(org, "r")]).toEqual(
        Array.from({ length: 2 }, () => expect.stringMatching(/^ent_/)),
      );
      expect(await ask(org, "r")).toBe("too_many_open");
      for (const { id, status } of await entitlementsOf(on.ledger, org))
        if (status === "requested") await revokeEntitlement(on.ledger, id, byItself("usr_asks"));
      for (let n = 22; n < 100; n += 1)
        await revokeEntitlement(on.ledger, await ask(org, "r"), byItself("usr_asks"));
      expect(await ask(org, "r")).toBe("too_many_a_day");
      on.clock.advance(86_400_000);
      expect(await ask(org, "r")).toStartWith("ent_");
      expect((await findEntitlement(on.ledger, first))?.status).toBe("expired");
      expect(await findEntitlement(on.ledger, "ent_unknown")).toBeNull();
      expect(await activeEntitlements(on.ledger, org)).toEqual([]);
      expect(await entitlementsOf(on.ledger, org)).toHaveLength(101);
    }, 120_000);

    test("closing a request neither ends what was approved meanwhile, nor closes it twice", async () => {
      const org = await on.world.organization(0);
      const asker = byItself("usr_asks");
      const [approved, withdrawn] = [await entitle(org, "r", 1), await ask(org, "r")];
      const withdraw = (id: string) =>
        closeRequest(on.ledger, id, { outcome: "withdrawn", note: null }, asker);
      const kept = { ended: false, record: { status: "active" } };
      expect(await withdraw(approved)).toMatchObject(kept);
      expect((await findEntitlement(on.ledger, approved))?.status).toBe("active");
      const closed = { status: "revoked" };
      expect(await withdraw(withdrawn)).toMatchObject({ ended: true, record: closed });
      expect(await withdraw(withdrawn)).toMatchObject({ ended: false, record: closed });
      expect(await withdraw("ent_unknown")).toBeNull();
    });

    test("of several entitlements for a model the longest one counts, whatever else was requested", async () => {
      const org = await on.world.organization(50);
      const key = await on.world.key(org, { scope: "research" });
      const says = async (): Promise<string> => {
        const { id, says } = await on.world.admit(key, { hold: 0.01, release: research });
        if (says === "admitted") await on.world.void(key, id, true);
        return says;
      };
      const short = await entitle(org, "r", 2);
      for (let n = 0; n < 3; n += 1)
        await revokeEntitlement(on.ledger, await entitle(org, "r", 9), byItself("x"));
      await ask(org, "r");
      expect(await says()).toBe("admitted");
      const long = await entitle(org, "r", 5);
      on.clock.advance(3 * 86_400_000);
      expect(await says()).toBe("admitted");
      expect((await activeEntitlements(on.ledger, org)).map(({ id }) => id)).toEqual([long]);
      await revokeEntitlement(on.ledger, long, byItself("usr_decides"));
      expect(await says()).toBe("research_entitlement_required");
      await revokeEntitlement(on.ledger, short, byItself("usr_decides"));
    });

    test("a key is identified by its whole digest, in its own organization, until it is revoked; a hundred are read at once", async () => {
      const said = async (key: KeyInHand): Promise<string> => saysOf(await on.ledger.checkKey(key));
      const [key, other] = [await on.customer(1), await on.customer(1)];
      const digest = Uint8Array.from(key.digest);
      digest[31] = (digest[31] ?? 0) ^ 1;
      expect(await said({ ...key, digest })).toBe("invalid_api_key");
      expect(await said({ ...key, digest: new Uint8Array(32) })).toBe("invalid_api_key");
      expect(await said({ ...key, organizationId: other.organizationId })).toBe("invalid_api_key");
      expect(await said({ ...key, keyId: "key_nobodyknows1" })).toBe("invalid_api_key");
      const [gone, wrong] = [await on.customer(1), { ...key, digest }];
      await revokeKey(on.ledger, gone.keyId, byItself("test"));
      const asked = Array.from({ length: 100 }, (_, n) => [key, other, gone, wrong][n % 4] as KeyInHand);
      const answers = ["good", "good", "api_key_revoked", "invalid_api_key"];
      expect(await Promise.all(asked.map(said))).toEqual(asked.map((_, n) => answers[n % 4] ?? ""));
      expect(await said({ ...gone, digest: wrong.digest })).toBe("invalid_api_key");
    });

    test("scope before entitlement before paid workspace before limit before credits", async () => {
      const poor = await on.world.organization(0);
      const standard = await on.world.key(poor, { limit: 0 });
      const researcher = await on.world.key(poor, { limit: 0, scope: "research" });
      expect((await on.world.admit(standard, { hold: 1, release: research })).says).toBe(
        "scope_not_permitted",
      );
      expect((await on.world.admit(researcher, { hold: 1, release: research })).says).toBe(
        "research_entitlement_required",
      );
      await entitle(poor, "r", 1);
      expect((await on.world.admit(researcher, { hold: 1, release: research })).says).toBe(
        "key_spend_limit_reached",
      );
      expect((await on.world.admit(standard, { hold: 1, release: paid })).says).toBe(
        "paid_workspace_required",
      );
      expect((await on.world.admit(standard, { hold: 1 })).says).toBe("key_spend_limit_reached");
      await changeKey(on.ledger, standard.keyId, { limit: null }, byItself("test"));
      expect((await on.world.admit(standard, { hold: 1 })).says).toBe("insufficient_credits");
    });

    test("an entitlement works from its approval until it expires or is revoked, for its model only", async () => {
      const key = await on.customer(5, { scope: "research" });
      const says = async (): Promise<string> => {
        const admitted = await on.world.admit(key, { hold: 1, release: research });
        if (admitted.says !== "admitted") return admitted.says;
        expect(admitted.outcome).toMatchObject({ researchMode: true });
        await on.world.void(key, admitted.id, true);
        return admitted.says;
      };
      await entitle(key.organizationId, "other", 1);
      expect(await says()).toBe("research_entitlement_required");
      const id = await entitle(key.organizationId, "r", 1);
      expect(await says()).toBe("admitted");
      await revokeEntitlement(on.ledger, id, byItself("test"));
      expect(await says()).toBe("research_entitlement_required");
      await entitle(key.organizationId, "r", 1);
      expect(await says()).toBe("admitted");
      on.clock.advance(86_400_000);
      expect(await says()).toBe("research_entitlement_required");
    });

    describe("a clock that is set back makes no request look unauthorized", () => {
      const back = (): void => on.clock.advance(-30_000);
      const lateOnes = async () =>
        (await on.ledger.verify()).violations.filter(({ invariant }) => invariant.startsWith("I15"));

      test.each(["its key", "its entitlement"])("%s is revoked behind it, and it was free", async (what) => {
        const publishedPrice = { ...PRICE, input_per_million: "0", output_per_million: "0" };
        const model = what.replace(" ", "-");
        const free = { model, tier: "research", publishedPrice, price: exactPrice(publishedPrice) } as const;
        await on.world.publish(free);
        const key = await on.customer(0, { scope: "research" });
        const id = await entitle(key.organizationId, model, 1);
        on.clock.advance(60_000);
        const admitted = await on.world.admit(key, { hold: 0, release: releaseOf(free) });
        back();
        if (what === "its key") await revokeKey(on.ledger, key.keyId, byItself("test"));
        else await revokeEntitlement(on.ledger, id, byItself("usr_decides"));
        expect([admitted.says, await lateOnes()]).toEqual(["admitted", []]);
        await on.world.void(key, admitted.id, true);
      });

      test("its entitlement was approved before it", async () => {
        const key = await on.customer(5, { scope: "research" });
        await entitle(key.organizationId, "r", 1);
        back();
        const admitted = await on.world.admit(key, { hold: 1, release: research });
        expect([admitted.says, await lateOnes()]).toEqual(["admitted", []]);
        await on.world.void(key, admitted.id, true);
      });
    });

    test("a disabled, superseded or expired route admits nobody", async () => {
      const key = await on.customer(5);
      const release = releaseOf({ model: "x", expiresAtMs: on.clock.nowMs() + 60_000 });
      await on.world.publish({ model: "x", expiresAtMs: release.expiresAtMs });
      await setRouteDisabled(
        on.ledger,
        { route: release.route, disabled: true, reason: "test" },
        byItself("test"),
      );
      expect((await on.world.admit(key, { hold: 1, release })).says).toBe("route_disabled");
      await setRouteDisabled(
        on.ledger,
        { route: release.route, disabled: false, reason: null },
        byItself("test"),
      );
      on.clock.advance(60_000);
      expect((await on.world.admit(key, { hold: 1, release })).says).toBe("route_release_stale");
      await on.world.publish({ model: "x", version: 2 });
      expect((await on.world.admit(key, { hold: 1, release })).says).toBe("route_release_stale");
    });

    test("a version at or below the highest is refused; publishing the same release again changes nothing", async () => {
      const release = releaseOf({ model: "y", version: 3 });
      const published = { release, jws: jwsOf(release) };
      expect(await publishRelease(on.ledger, published, byItself("test"))).toEqual({ kind: "published" });
      expect(await publishRelease(on.ledger, published, byItself("test"))).toEqual({ kind: "repeated" });
      expect(await on.world.publish({ model: "y", version: 2 })).toEqual({ kind: "rolled_back", highest: 3 });
    });
  });
}
