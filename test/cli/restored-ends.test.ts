// What must hold permanently (specification 1 and 3), a revocation or the highest version of a route, still holds
// when an older backup is restored in place of the store that recorded it.
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../src/config/config.ts";
import { STORE_FILE } from "../../src/domain/data-files.ts";
import { createLog } from "../../src/lib/log.ts";
import { start } from "../../src/main/gateway.ts";
import { restoreBackup } from "../../src/main/restore.ts";
import { type Browser, firstOperator } from "../support/browser.ts";
import { entitled } from "../support/entitled.ts";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";
import { PLAIN, RESEARCH } from "../support/models.ts";

let folder: string;
let gateway: TestGateway;
let root: Browser;
let revoked: Customer;
let pausedThenRevoked: Customer;
let kept: Customer;
let managementKey: string;
let entitlement: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tollgate-stays-revoked-"));
  gateway = await startGateway({ store: "sqlite", models: [PLAIN, RESEARCH] });
  root = await firstOperator(gateway);
  revoked = await gateway.customer();
  const org = revoked.organizationId;
  [kept, pausedThenRevoked] = [await gateway.key(org), await gateway.key(org)];
  await gateway.admin("POST", `/keys/${pausedThenRevoked.keyId}/pause`, {});
  const made = await root.app("POST /operator/management-keys", {}, { name: "deployment" });
  managementKey = made.secret ?? "";
  entitlement = await entitled(gateway, { org, model: RESEARCH.model, untilMs: Date.now() + 1e9 });
  const store = new Database(join(gateway.dataDir, STORE_FILE));
  store.run(`VACUUM INTO '${join(folder, "backup")}'`);
  store.close();
  expect((await gateway.publish({ ...RESEARCH, version: 2 })).status).toBe(200);
  expect(
    (
      await gateway.admin("POST", "/routes/disable", {
        route: `${PLAIN.model}@simulator/local`,
        reason: "leaked",
      })
    ).status,
  ).toBe(200);
  for (const { keyId } of [revoked, pausedThenRevoked])
    expect((await gateway.admin("POST", `/keys/${keyId}/revoke`, {})).status).toBe(200);
  await root.app("POST /operator/management-keys/{key}/revoke", { key: made.id });
  expect((await gateway.admin("POST", `/entitlements/${entitlement}/revoke`, {})).status).toBe(200);
});
afterAll(async () => {
  await gateway.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A data directory with the gateway's key and, if wanted, its store as a power failure would leave it. */
function directory(name: string, store: "its store" | "garbage" | "no store"): string {
  const dataDir = join(folder, name);
  mkdirSync(dataDir, { mode: 0o700 });
  copyFileSync(join(gateway.dataDir, "data.key"), join(dataDir, "data.key"));
  if (store === "garbage")
    writeFileSync(join(dataDir, STORE_FILE), "no database".repeat(1000), { mode: 0o600 });
  if (store === "its store")
    for (const suffix of ["", "-wal"])
      if (existsSync(join(gateway.dataDir, STORE_FILE + suffix)))
        copyFileSync(join(gateway.dataDir, STORE_FILE + suffix), join(dataDir, STORE_FILE + suffix));
  return dataDir;
}

test("what was revoked, published and disabled since holds, with its lines of the audit log, and the audit finds nothing", async () => {
  const dataDir = directory("data", "its store");
  expect(restoreBackup(dataDir, join(folder, "backup"))).toMatchObject({ heldOn: { revoked: 4, routes: 2 } });
  const restored = new Database(join(dataDir, STORE_FILE), { readonly: true });
  const lines = restored
    .query(
      `SELECT action FROM audit_log WHERE action IN ('key.revoke', 'entitlement.revoke', 'route.disable', 'release.publish')
       ORDER BY action`,
    )
    .values()
    .flat();
  const states = restored
    .query("SELECT route, highest_version, disabled FROM route_state ORDER BY route")
    .all();
  restored.close();
  expect(lines).toEqual([
    "entitlement.revoke",
    "key.revoke",
    "key.revoke",
    "release.publish",
    "release.publish",
    "release.publish",
    "route.disable",
  ]);
  expect(states).toEqual([
    { route: expect.stringContaining(RESEARCH.model), highest_version: 2, disabled: 0 },
    { route: expect.stringContaining(PLAIN.model), highest_version: 1, disabled: 1 },
  ]);
  const config = loadConfig({ env: {}, cwd: dataDir, flags: { port: "0", dataDir } });
  const again = await start(config, { log: createLog("silent") });
  const get = (path: string, secret: string): Promise<Response> =>
    fetch(again.url + path, { headers: { authorization: `Bearer ${secret}` } });
  const { token } = JSON.parse(readFileSync(join(dataDir, "operator.json"), "utf8")) as { token: string };
  const asked = [revoked, pausedThenRevoked, kept].map(({ secret }) => get("/v1/key", secret));
  const found = (await Promise.all(asked)).map(({ status }) => status);
  const byManagementKey = await get("/admin/v1/organizations", managementKey);
  const entitlements = await (
    await get(`/admin/v1/entitlements?org=${revoked.organizationId}`, token)
  ).json();
  const verified = await (await get("/admin/v1/ledger/audit", token)).json();
  await again.stop();
  expect(found).toEqual([401, 401, 200]);
  expect(byManagementKey.status).toBe(401);
  expect(entitlements).toMatchObject({ data: [{ id: entitlement, status: "revoked" }] });
  expect(verified).toMatchObject({ ok: true, violations: [] });
});

test("an interrupted restore keeps them, too, when the same command finishes it", () => {
  const dataDir = directory("interrupted", "its store");
  restoreBackup(dataDir, join(folder, "backup"));
  // As after a crash once the old store was set aside.
  copyFileSync(join(dataDir, STORE_FILE), join(dataDir, `${STORE_FILE}.restoring`));
  rmSync(join(dataDir, STORE_FILE));
  expect(restoreBackup(dataDir, join(folder, "backup"))).toMatchObject({ heldOn: { revoked: 4, routes: 2 } });
});

test("if no store records them, the command says so", () => {
  for (const store of ["garbage", "no store"] as const) {
    const restored = restoreBackup(directory(store, store), join(folder, "backup"));
    expect({ store, ...restored }).toMatchObject({ heldOn: null });
  }
});
