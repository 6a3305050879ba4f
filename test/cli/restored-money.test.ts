// What a restore gives back to spend, or takes from whoever had it: it lists it with what to do, also when the first run
// was killed and a second one finishes it, and keeps the files of before whole.
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { byItself } from "../../src/domain/actor.ts";
import { PEOPLE_FILE, STORE_FILE } from "../../src/domain/data-files.ts";
import { nanoUsd } from "../../src/domain/money.ts";
import { firstOperator } from "../support/browser.ts";
import { type Customer, hello, startGateway, type TestGateway } from "../support/gateway.ts";
import { PLAIN } from "../support/models.ts";
import { PROGRAM, type Ran, runToEnd } from "../support/program.ts";

const PATIENCE_MS = 60_000;
const BOB = byItself("bob");
let folder: string;
let backup: string;
let gateway: TestGateway;
let customer: Customer;
let paused: Customer;
/** Of after the backup: a key of the customer's, and one of another organization. */
let made: Customer;
let later: Customer;
/** A request in the backup. */
let request: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tollgate-restored-money-"));
  backup = join(folder, "backup");
  gateway = await startGateway({ store: "sqlite" });
  await firstOperator(gateway);
  customer = await gateway.customer();
  const organizationId = customer.organizationId;
  paused = await gateway.key(organizationId);
  request = await calls();
  const paid = { organizationId, amount: nanoUsd(3_000_000_000n), source: "stripe" };
  await gateway.ledger.topUp({ ...paid, kind: "purchase", externalId: "cs_1" }, BOB);
  await gateway.tamper(
    "INSERT INTO auto_top_up VALUES (?1, 1, 0, 1, NULL, 0, NULL, NULL, NULL)",
    organizationId,
  );
  await gateway.tamper("INSERT INTO payment_method VALUES (?1, 'stripe', 'c', 'm', 'l', 0)", organizationId);
  await channel("chn_1", "Ended");
  await gateway.tamper(
    "INSERT INTO alert_rule (rule_id, org_id, kind, channels, enabled, created_at) VALUES ('rul_1', ?1, 'low', '[]', 1, 0)",
    organizationId,
  );
  for (const [name, to] of [
    [STORE_FILE, backup],
    [PEOPLE_FILE, `${backup}.people`],
  ] as const) {
    const store = new Database(join(gateway.dataDir, name));
    store.run(`VACUUM INTO '${to}'`);
    store.close();
  }
  const call = await calls();
  await gateway.ledger.topUp({ ...paid, kind: "purchase", externalId: "cs_2" }, BOB);
  const back = { ...paid, kind: "chargeback", target: "pi_1", externalId: "dp_1" } as const;
  await gateway.ledger.reverse(back, BOB);
  for (const [target, externalId] of [
    [request, "re_1"],
    [call, "re_2"],
  ] as const) {
    const refunded = {
      organizationId,
      amount: nanoUsd(1_000n),
      kind: "refund",
      target,
      source: "operator",
      externalId,
    } as const;
    await gateway.ledger.reverse(refunded, BOB);
  }
  expect((await gateway.admin("POST", `/keys/${paused.keyId}/pause`, {})).status).toBe(200);
  await gateway.tamper("UPDATE auto_top_up SET enabled = 0 WHERE org_id = ?1", organizationId);
  made = await gateway.key(organizationId);
  const created = await gateway.admin<{ id: string }>("POST", "/organizations", { name: "Later" });
  later = await gateway.key(created.json.id);
  await gateway.tamper("UPDATE api_key SET limit_nano = 5 WHERE key_id = ?1", customer.keyId);
  await gateway.tamper("UPDATE alert_channel SET removed_at = 1 WHERE channel_id = ?1", "chn_1");
  await gateway.tamper("DELETE FROM alert_rule WHERE rule_id = ?1", "rul_1");
  await channel("chn_2", "Made");
  const limits = await gateway.admin("POST", "/limits", { org: organizationId, concurrent: 5 });
  expect(limits.status).toBe(200);
}, PATIENCE_MS);
afterAll(async () => {
  await gateway.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function calls(): Promise<string> {
  const { status, headers } = await gateway.chat(customer, hello(PLAIN.model));
  expect(status).toBe(200);
  return headers.get("x-request-id") ?? "";
}

const channel = (id: string, name: string): Promise<void> =>
  gateway.tamper(
    "INSERT INTO alert_channel (channel_id, org_id, kind, name, target, secret, created_at) VALUES (?1, ?2, 'webhook', ?3, 'https://example.com', '', 0)",
    id,
    customer.organizationId,
    name,
  );

function cli(dataDir: string, ...args: string[]): Promise<Ran> {
  const { DATABASE_URL: _, ...env } = process.env;
  return runToEnd(PROGRAM, ["--data-dir", dataDir, ...args], { env });
}

/** The gateway's directory, as a power failure would leave it. */
function crashed(name: string): string {
  const dataDir = join(folder, name);
  mkdirSync(dataDir, { mode: 0o700 });
  for (const file of ["data.key", STORE_FILE, PEOPLE_FILE])
    for (const suffix of ["", "-wal"])
      if (existsSync(join(gateway.dataDir, file + suffix)))
        copyFileSync(join(gateway.dataDir, file + suffix), join(dataDir, file + suffix));
  return dataDir;
}

function restore(dataDir: string, crashAt: string, ...more: string[]): Promise<Ran> {
  const { DATABASE_URL: _, ...env } = process.env;
  const set = crashAt === "" ? env : { ...env, TOLLGATE_CRASH_AT: crashAt };
  return runToEnd(PROGRAM, ["--data-dir", dataDir, ...more, "db", "restore", backup], { env: set });
}

const LISTS = (): object => ({
  credits_gone: [{ org: customer.organizationId, kind: "purchase", reference: "cs_2", usd: "3.000000000" }],
  reversals_gone: [
    {
      org: customer.organizationId,
      kind: "chargeback",
      reference: "dp_1",
      target: "pi_1",
      usd: "3.000000000",
    },
    { org: customer.organizationId, kind: "refund", reference: "re_1", target: request, usd: "0.000001000" },
  ],
  keys_unpaused: [`${paused.keyId} of ${customer.organizationId}`],
  charged_again: [customer.organizationId],
  retries_anew: 0,
});

test(
  "chargebacks, refunds, pauses and ended top-ups that a backup does not have are listed, with what to do",
  async () => {
    const { code, out } = await restore(crashed("told"), "");
    expect({ code, out }).toEqual({ code: 0, out: expect.any(String) });
    const org = customer.organizationId;
    for (const line of [
      `Lost since the backup: 1 credit. Credit it again:\n  $3.00 purchase of ${org}, cs_2\n`,
      "Lost since the backup: 1 chargeback. What it took back can be spent again: have the payment service resend it",
      `:\n  $3.00 chargeback of ${org}, dp_1 for pi_1\n`,
      `1 refund. Refund it again (`,
      `:\n  $0.000001 refund of ${org}, re_1 for ${request}\n`,
      `keys pause KEY):\n  ${paused.keyId} of ${org}\n`,
      `until they have switched it off again):\n  ${org}\n`,
    ])
      expect(out).toContain(line);
  },
  PATIENCE_MS,
);

test.each([
  "",
  "restore_verified",
  "restore_aside",
  "restore_aside:3",
  "restore_set_aside",
  "restore_reported",
])(
  "killed at %j and finished by a second run: the same lists, and what was there before is kept whole",
  async (at) => {
    const dataDir = crashed(`killed at ${at}`);
    const before = [STORE_FILE, PEOPLE_FILE].map((name) => contentOf(join(dataDir, name)));
    if (at !== "") expect((await restore(dataDir, at)).code).not.toBe(0);
    const { code, out } = await restore(dataDir, "", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject(LISTS());
    const kept = readdirSync(dataDir).filter((name) => /before-.*Z$/.test(name));
    expect(kept).toHaveLength(2);
    const aside = [STORE_FILE, PEOPLE_FILE].map((name) => kept.find((file) => file.startsWith(name)) ?? "");
    expect(aside.map((name) => contentOf(join(dataDir, name)))).toEqual(before);
    expect(existsSync(join(dataDir, `${aside[0]}-wal`))).toBe(
      existsSync(join(gateway.dataDir, `${STORE_FILE}-wal`)),
    );
  },
  PATIENCE_MS,
);

test(
  "killed when all is done but told: the report is there to be read again, and a second restore points to it",
  async () => {
    const dataDir = crashed("untold");
    expect((await restore(dataDir, "restore_done")).code).not.toBe(0);
    const told = await cli(dataDir, "--json", "db", "restored");
    expect(JSON.parse(told.out)).toMatchObject(LISTS());
    const { out } = await cli(dataDir, "db", "restored");
    expect(out).toContain(`:\n  $3.00 chargeback of ${customer.organizationId}, dp_1 for pi_1\n`);
    const again = await restore(dataDir, "");
    expect(again.out).not.toContain("dp_1");
    const [, report = ""] = /not repeated .*:\n {2}(\/.*\.json)\n/.exec(again.out) ?? [];
    expect((await cli(dataDir, "db", "restored", report)).out).toBe(out);
    expect((await cli(dataDir, "db", "restored")).out).toBe(again.out);
    expect(statSync(report).mode & 0o777).toBe(0o600);
  },
  PATIENCE_MS,
);

test(
  "what was made, changed and ended after the backup is listed: keys, organizations, limits, channels and rules of alerts",
  async () => {
    const { code, out } = await restore(crashed("since"), "", "--json");
    expect(code).toBe(0);
    const { made_since, changed_since, ended_since } = JSON.parse(out) as Record<string, string[]>;
    const org = customer.organizationId;
    expect(made_since?.filter((line) => !line.startsWith("management key"))).toEqual([
      `organization ${later.organizationId}`,
      ...[`${made.keyId} of ${org}`, `${later.keyId} of ${later.organizationId}`]
        .sort()
        .map((key) => `API key ${key}`),
      `limits ${org}`,
      `alert channel chn_2 of ${org} (Made)`,
    ]);
    expect(changed_since).toEqual([`API key ${customer.keyId} of ${org}`]);
    expect(ended_since).toEqual([
      `alert channel chn_1 of ${org} (Ended)`,
      `alert rule rul_1 (low) of ${org}`,
    ]);
  },
  PATIENCE_MS,
);

const contentOf = (path: string): string => Bun.hash(readFileSync(path)).toString();
