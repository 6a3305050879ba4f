// Named views of Usage belong to one person in one organization, on both stores.
import { expect, test } from "bun:test";
import { type Browser, firstOperator, newMember } from "../support/browser.ts";
import { startGateway, STORES } from "../support/gateway.ts";

for (const store of STORES)
  test(`a name means one view, of one person, in one organization, on ${store}`, async () => {
    const gateway = await startGateway({ store, configure: (config) => (config.signIn.perMinute = 1000) });
    try {
      const root = await firstOperator(gateway);
      const [org, other] = await Promise.all(
        ["Acme", "Basalt"].map(
          async (name) => (await root.app("POST /operator/organizations", {}, { name })).id,
        ),
      );
      if (org === undefined || other === undefined) throw new Error("no organizations");
      const olga = await newMember(root, gateway, { org, role: "owner", email: "olga@example.com" });
      const vera = await newMember(root, gateway, { org, role: "viewer", email: "vera@example.com" });
      const keep = (by: Browser, name: string, query: string, at = org) =>
        by.app("PUT /orgs/{org}/usage/views", { org: at }, { name, query });
      const listed = async (by: Browser, at = org) =>
        (await by.app("GET /orgs/{org}/usage/views", { org: at })).data.map(({ name, query }) => [
          name,
          query,
        ]);

      const first = await keep(vera, "Weekly", "?range=7d");
      await keep(vera, "By key", "?group_by=key");
      expect((await keep(vera, " Weekly ", "?range=7d&group_by=key")).id).toBe(first.id);
      await Promise.all([1, 2, 3, 4].map((n) => keep(root, "At once", `?n=${n}`)));
      expect(await listed(vera)).toEqual([
        ["By key", "?group_by=key"],
        ["Weekly", "?range=7d&group_by=key"],
      ]);
      expect([await listed(olga), (await listed(root)).length, await listed(root, other)]).toEqual([
        [],
        1,
        [],
      ]);

      const remove = (by: Browser) =>
        by.try("DELETE /orgs/{org}/usage/views/{view}", { org, view: first.id });
      expect((await remove(olga)).status).toBe(404);
      expect((await remove(root)).status).toBe(404);
      expect((await remove(vera)).status).toBe(200);
      expect(await listed(vera)).toEqual([["By key", "?group_by=key"]]);

      await Promise.all(Array.from({ length: 49 }, (_, n) => keep(vera, `View ${n + 1}`, "")));
      const full = await vera.try("PUT /orgs/{org}/usage/views", { org }, { name: "One more", query: "" });
      expect([full.status, full.json.error.code]).toEqual([409, "conflict"]);
      expect((await keep(vera, "View 1", "?range=24h")).query).toBe("?range=24h");
    } finally {
      await gateway.stop();
    }
  }, 120_000);
