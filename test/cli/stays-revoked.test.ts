// A revocation is permanent (specification 3): what was revoked after a backup stays revoked when that backup is restored in
// the place of the store that knows of it.
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
import { RESEARCH } from "../support/models.ts";

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
  gateway = await startGateway({ store: "sqlite", models: [RESEARCH] });
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
  for (const { keyId } of [revoked, pausedThenRevoked])
    expect((await gateway.admin("POST", `/keys/${keyId}/revoke`, {})).status).toBe(200);
  await root.app("POST /operator/management-keys/{key}/revoke", { key: made.id });
  expect((await gateway.admin("POST", `/entitlements/${entitlement}/revoke`, {})).status).toBe(200);
});
afterAll(async () => {
  await gateway.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A data directory with the gateway's key and, where it is wanted, its store as a power failure would leave it. */
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

test("keys, management keys and entitlements that ended since do not come back, and the audit finds nothing", async () => {
  const dataDir = directory("data", "its store");
  expect(restoreBackup(dataDir, join(folder, "backup"))).toMatchObject({ stayRevoked: 4 });
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
  const restored = new Database(join(dataDir, STORE_FILE), { readonly: true });
  const ends = restored
    .query("SELECT action FROM audit_log WHERE action IN ('key.revoke', 'entitlement.revoke') ORDER BY seq")
    .values();
  restored.close();
  expect(ends).toEqual([["key.revoke"], ["key.revoke"], ["entitlement.revoke"]]);
});

test("an interrupted restore keeps them, too, when the same command finishes it", () => {
  const dataDir = directory("interrupted", "its store");
  restoreBackup(dataDir, join(folder, "backup"));
  // As after a crash once the old store was set aside.
  copyFileSync(join(dataDir, STORE_FILE), join(dataDir, `${STORE_FILE}.restoring`));
  rmSync(join(dataDir, STORE_FILE));
  expect(restoreBackup(dataDir, join(folder, "backup"))).toMatchObject({ stayRevoked: 4 });
});

test("where no store tells of them, that is said", () => {
  for (const store of ["garbage", "no store"] as const) {
    const restored = restoreBackup(directory(store, store), join(folder, "backup"));
    expect({ store, ...restored }).toMatchObject({ stayRevoked: null });
  }
});
