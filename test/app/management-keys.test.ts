// When a management key was last used: recorded by the operator API, at most once a minute, on both stores.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Browser, firstOperator } from "../support/browser.ts";
import { stoppedClock } from "../support/clock.ts";
import { startGateway, STORES, type TestGateway } from "../support/gateway.ts";
import { reads } from "../support/wait.ts";

for (const store of STORES)
  describe(`the last use of a management key on ${store}`, () => {
    const clock = stoppedClock();
    let gateway: TestGateway;
    let root: Browser;
    let key: { id: string; secret: string | null };

    beforeAll(async () => {
      gateway = await startGateway({ clock, store });
      root = await firstOperator(gateway);
      key = await root.app("POST /operator/management-keys", {}, { name: "Deploy" });
    }, 120_000);
    afterAll(() => gateway.stop());

    const usedAt = async (): Promise<string | null | undefined> =>
      (await root.app("GET /operator/management-keys")).data.find(({ id }) => id === key.id)?.last_used_at;
    const call = async (place: string, secret = key.secret): Promise<number> => {
      const headers = { authorization: `Bearer ${secret}` };
      return (await fetch(gateway.url + place, { headers })).status;
    };
    const now = (): string => new Date(clock.nowMs()).toISOString();

    test("is empty before the first call, then the time of a call, updated once a minute", async () => {
      expect(await usedAt()).toBeNull();
      const first = now();
      expect(await call("/admin/v1/organizations")).toBe(200);
      await reads(usedAt, first); // no caller waits for it
      clock.advance(30_000);
      await call("/admin/v1/organizations");
      expect(await usedAt()).toBe(first);
      clock.advance(31_000);
      await call("/admin/v1/organizations");
      await reads(usedAt, now());
    });

    test("is not changed by a wrong secret or a revoked key, and survives a restart", async () => {
      const last = await usedAt();
      clock.advance(120_000);
      expect(await call("/admin/v1/organizations", `${key.secret?.slice(0, -4)}AAAA`)).toBe(401);
      expect(await usedAt()).toBe(last);
      const revoked = await root.app("POST /operator/management-keys/{key}/revoke", { key: key.id });
      expect(revoked.last_used_at).toBe(last ?? "");
      expect(await call("/admin/v1/organizations")).toBe(401);
      await gateway.restart();
      expect(await usedAt()).toBe(last);
    });
  });
