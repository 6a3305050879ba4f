// A gateway that is killed during a change about people: after the next start either the change is there with its
// line in the audit log, once, or neither is. The process really dies, by SIGKILL.
import { expect, test } from "bun:test";
import { join } from "node:path";
import type { CrashPoint } from "../../src/lib/crash-point.ts";
import { firstRunToken } from "../../src/people/first-run.ts";
import { sessionSecret } from "../../src/people/store.ts";
import { readDataKey } from "../../src/store/data-key.ts";
import { Browser, PASSWORD } from "../support/browser.ts";
import { STORES, type Store } from "../support/gateway.ts";
import { testPostgres } from "../support/postgres.ts";
import { ProcessGateway } from "../support/process-gateway.ts";
import { reads } from "../support/wait.ts";

/** Where it is killed, and whether the change is there then. */
const POINTS: [store: Store, at: CrashPoint, kept: boolean][] = [
  ...STORES.flatMap((store): [Store, CrashPoint, boolean][] => [
    [store, "person_changed", false],
    [store, "person_committed", true],
  ]),
  ["sqlite", "line_carried", true], // on PostgreSQL nothing is carried over
];

test.each(POINTS)(
  "on %s, killed at %s",
  async (store, at, kept) => {
    const database = store === "postgres" ? await (await testPostgres()).migrated() : null;
    const env: Record<string, string> = database === null ? {} : { DATABASE_URL: database.url };
    const gateway = await ProcessGateway.start(env);
    try {
      const secret = sessionSecret(readDataKey(join(gateway.folder, "data"), "existing"));
      const root = new Browser(gateway.url);
      const account = { name: "Before", email: "root@example.com", password: PASSWORD };
      await root.app("POST /welcome", {}, { token: firstRunToken(secret, Date.now()), ...account });
      await gateway.kill();

      await gateway.run({ ...env, TOLLGATE_CRASH_AT: at });
      const there = root.at(gateway.url);
      await there
        .send("PATCH", "/app/v1/profile", { name: "After" }, { origin: gateway.url })
        .catch(() => "cut");
      expect(await gateway.ended()).toBe("SIGKILL");

      await gateway.run(env);
      const back = root.at(gateway.url);
      const renamed = async (): Promise<(string | null)[]> =>
        (await back.app("GET /operator/audit", {}, undefined, "?action=person.rename")).data.map(
          ({ after }) => after,
        );
      expect((await back.app("GET /session")).person?.name).toBe(kept ? "After" : "Before");
      await reads(renamed, kept ? [JSON.stringify({ name: "After" })] : []);
      // The next change comes after it, and brings no second line of it.
      await back.send("PATCH", "/app/v1/profile", { name: "Then" }, { origin: gateway.url });
      expect(await renamed()).toEqual([
        JSON.stringify({ name: "Then" }),
        ...(kept ? [JSON.stringify({ name: "After" })] : []),
      ]);
    } finally {
      await gateway.stop();
      await database?.drop();
    }
  },
  120_000,
);
