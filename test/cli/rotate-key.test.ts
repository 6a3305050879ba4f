// `db rotate-key` over HTTP, on both stores: keys, answers, receipts, second factors and webhooks keep working,
// except that people sign in again; wherever it is killed, the store opens, and the same command continues.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { symmetricDecrypt } from "better-auth/crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CrashPoint } from "../../src/lib/crash-point.ts";
import { openAnswer } from "../../src/ledger/answer-vault.ts";
import { firstRunToken } from "../../src/people/first-run.ts";
import { sessionSecret } from "../../src/people/store.ts";
import { type Receiver, startReceiver } from "../alerts/receiver.ts";
import { Browser, PASSWORD } from "../support/browser.ts";
import { type Disk, openDisk } from "../support/damage.ts";
import { type TestDatabase, testPostgres } from "../support/postgres.ts";
import { ProcessGateway, type Received, untilParts } from "../support/process-gateway.ts";
import { codeOf, nextCodeOf } from "../support/totp.ts";
import { waitFor } from "../support/wait.ts";

const PATIENCE_MS = 120_000;
const POINTS: readonly CrashPoint[] = [
  "rotate_drawn",
  "rotate_resealing",
  "rotate_resealed",
  "rotate_committed",
  "rotate_kept",
];
/** From this point on the store has the new key. */
const COMMITTED = POINTS.indexOf("rotate_committed");
const ASK = { model: "plain-1", messages: [{ role: "user", content: "Hello" }], max_tokens: 60 };
const OTHER = { ...ASK, max_tokens: 61 };
const CREDENTIALS = { email: "root@example.com", password: PASSWORD };

interface Told {
  completed_earlier_run: boolean;
  answers: { resealed: number; unreadable: number };
  channels: { resealed: number; unreadable: number };
  second_factors: { resealed: number; unreadable: number };
  sessions_ended: number;
  former_key: string | null;
}

describe.each(["sqlite", "postgres"] as const)("on %s", (store) => {
  let database: TestDatabase | null = null;
  let env: Record<string, string>;
  let gateway: ProcessGateway;
  let disk: Disk;
  let customer: { organizationId: string; secret: string };
  let dataDir: string;

  beforeAll(async () => {
    if (store === "postgres") database = await (await testPostgres()).migrated();
    env = database === null ? {} : { DATABASE_URL: database.url };
    gateway = await ProcessGateway.start(env, "alerts: { private_targets: true }");
    dataDir = join(gateway.folder, "data");
    customer = await gateway.customer();
  }, PATIENCE_MS);
  afterAll(async () => {
    await gateway.stop();
    await database?.drop();
  }, PATIENCE_MS);

  const keyed = (idempotencyKey: string, body: object = ASK): Promise<Received> =>
    gateway.chat(customer.secret, body, { "idempotency-key": idempotencyKey });
  const rotate = (...options: string[]) => gateway.cli(env, "--json", "db", "rotate-key", ...options);
  const keyNow = (): Buffer => readFileSync(join(dataDir, "data.key"));

  async function rotated(...options: string[]): Promise<Told> {
    const { code, stdout, stderr } = await rotate(...options);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.any(String) });
    return JSON.parse(stdout) as Told;
  }

  async function stopped<T>(work: () => Promise<T>): Promise<T> {
    await gateway.kill("SIGTERM");
    const result = await work();
    await gateway.run(env);
    return result;
  }

  async function onDisk<T>(work: () => Promise<T>): Promise<T> {
    disk = await openDisk({ dataDir, databaseUrl: database?.url ?? null });
    try {
      return await work();
    } finally {
      await disk.close();
    }
  }

  const figures = async () => ({
    bill: gateway.simulator.bill().length,
    credits: await gateway.admin("GET", `/credits?org=${customer.organizationId}`),
  });

  async function assertSound(): Promise<void> {
    expect(await gateway.admin("GET", "/ledger/audit")).toMatchObject({ ok: true, violations: [] });
  }

  const receiptOf = async (id: string): Promise<string> => {
    const { text } = await gateway.get(`/v1/receipts/${id}`, { authorization: `Bearer ${customer.secret}` });
    return text;
  };

  async function verifies(receipt: string): Promise<boolean> {
    const file = join(gateway.folder, "receipt.json");
    writeFileSync(file, receipt);
    const { code } = await gateway.cli({}, "receipt", "verify", file);
    return code === 0;
  }

  test(
    "after a change retries are answered as before and billed once, receipts verify, all people sign in again with the factor they had",
    async () => {
      const whole = await keyed("whole-answer");
      const stream = await keyed("a-stream-of-it", { ...ASK, stream: true });
      expect([whole.status, stream.status]).toEqual([200, 200]);
      const { id } = JSON.parse(whole.text) as { id: string };
      const receipt = await receiptOf(whole.headers.get("x-request-id") ?? id);
      const before = await figures();
      const person = await somebodyWithEverything();
      const old = keyNow();
      const told = await stopped(() => rotated());
      expect(told).toMatchObject({
        completed_earlier_run: false,
        answers: { resealed: 2, unreadable: 0 },
        channels: { resealed: 1, unreadable: 0 },
        second_factors: { resealed: 1, unreadable: 0 },
        sessions_ended: 1,
      });
      expect(keyNow()).not.toEqual(old);
      expect(readFileSync(told.former_key ?? "").equals(old)).toBe(true);
      for (const file of [join(dataDir, "data.key"), told.former_key ?? ""])
        expect(statSync(file).mode & 0o777).toBe(0o600);
      expect(existsSync(join(dataDir, "data.key.next"))).toBe(false);

      const [wholeAgain, streamAgain] = [
        await keyed("whole-answer"),
        await keyed("a-stream-of-it", { ...ASK, stream: true }),
      ];
      expect(wholeAgain.text).toBe(whole.text);
      expect(streamAgain.text).toBe(stream.text);
      expect((await keyed("whole-answer", OTHER)).status).toBe(422);
      expect(await figures()).toEqual(before);
      expect(await verifies(receipt)).toBe(true);
      const anew = await receiptOf(whole.headers.get("x-request-id") ?? id);
      expect(anew).not.toBe(receipt);
      expect(await verifies(anew)).toBe(true);
      await signsInAnew(person);
      await assertSound();
      expect(await openedBy(old)).toEqual({ rows: 2, opened: 0 });
      await person.receiver.stop();
    },
    PATIENCE_MS,
  );

  interface Person {
    browser: Browser;
    totpUri: string;
    channel: string;
    receiver: Receiver;
  }

  /** The first operator, with a second factor, and a webhook channel. */
  async function somebodyWithEverything(): Promise<Person> {
    const browser = new Browser(gateway.url);
    const token = firstRunToken(sessionSecret(keyNow()), Date.now());
    await browser.app("POST /welcome", {}, { token, name: "Root", ...CREDENTIALS });
    const made = await browser.send<{ totpURI: string }>("POST", "/auth/two-factor/enable", {
      password: PASSWORD,
    });
    const totpUri = made.json.totpURI;
    await browser.send("POST", "/auth/two-factor/verify-totp", { code: codeOf(totpUri) });
    const receiver = startReceiver();
    const org = customer.organizationId;
    const channel = await browser.app(
      "POST /orgs/{org}/alerts/channels",
      { org },
      { kind: "webhook", name: "Pager", target: receiver.url },
    );
    receiver.secret = channel.secret ?? "";
    return { browser, totpUri, channel: channel.id, receiver };
  }

  async function signsInAnew({ browser: before, totpUri, channel, receiver }: Person): Promise<void> {
    const browser = before.at(gateway.url);
    expect((await browser.app("GET /session")).person).toBeNull();
    const again = new Browser(gateway.url);
    await again.send("POST", "/auth/sign-in/email", CREDENTIALS);
    const { status } = await again.send("POST", "/auth/two-factor/verify-totp", {
      code: nextCodeOf(totpUri),
    });
    expect(status).toBe(200);
    expect((await again.app("GET /session")).person?.two_factor).toBe(true);
    await again.app("POST /orgs/{org}/alerts/channels/{channel}/test", {
      org: customer.organizationId,
      channel,
    });
    await waitFor(async () => receiver.arrived.length === 1, "the test of the channel");
    expect(receiver.arrived[0]?.genuine).toBe(true);
  }

  /** How many stored answers a key opens. */
  const openedBy = (key: Uint8Array): Promise<{ rows: number; opened: number }> =>
    onDisk(async () => {
      const rows = await disk.rows("ledger", "SELECT org_id, request_id, sealed FROM result");
      const opened = rows.filter(({ org_id, request_id, sealed }) => {
        const place = { organizationId: String(org_id), requestId: String(request_id) };
        try {
          return openAnswer(key, place, sealed as Uint8Array) !== null;
        } catch {
          return false;
        }
      });
      return { rows: rows.length, opened: opened.length };
    });

  /** The first operator's, with the current key: people are a separate file on SQLite. */
  const factorOpens = (): Promise<boolean> =>
    onDisk(async () => {
      const [factor] = await disk.rows("people", `SELECT secret FROM ${disk.named("people", "twoFactor")}`);
      const sealed = { key: sessionSecret(keyNow()), data: String(factor?.["secret"]) };
      return await symmetricDecrypt(sealed).then(
        () => true,
        () => false,
      );
    });

  test.each(POINTS)(
    "killed at %s the store opens and answers, with and without the same command first, which draws a new key",
    async (point) => {
      const answer = await keyed("killed-meanwhile");
      const before = await figures();
      for (const startFirst of [false, true]) {
        await gateway.kill("SIGTERM");
        const was = keyNow();
        expect((await gateway.cli({ ...env, TOLLGATE_CRASH_AT: point }, "db", "rotate-key")).code).not.toBe(
          0,
        );
        const committed = POINTS.indexOf(point) >= COMMITTED;
        if (!startFirst) {
          const drawn = committed ? null : readFileSync(join(dataDir, "data.key.next"));
          expect((await rotated()).completed_earlier_run).toBe(committed);
          expect(keyNow()).not.toEqual(was);
          // A copy of the key drawn by the killed run is no key of the store.
          if (drawn !== null) expect(keyNow()).not.toEqual(drawn);
          expect(existsSync(join(dataDir, "data.key.next"))).toBe(false);
        }
        await gateway.run(env);
        expect((await keyed("killed-meanwhile")).text).toBe(answer.text);
        expect((await keyed("killed-meanwhile", OTHER)).status).toBe(422);
        if (startFirst) expect(keyNow().equals(was)).toBe(!committed);
        expect(await factorOpens()).toBe(true);
        expect(await figures()).toEqual(before);
        await assertSound();
      }
    },
    PATIENCE_MS,
  );

  test(
    "a stream cut by its gateway's death is settled first, and its retry gets what had been delivered",
    async () => {
      await slowProvider({ tokens_per_second: 40, completion_tokens: 400 });
      const body = { ...ASK, stream: true, max_tokens: 1000 };
      const cut = gateway.listen(customer.secret, body, { "idempotency-key": "cut-by-a-kill" });
      await untilParts([cut], 60);
      await gateway.kill("SIGKILL");
      const bill = gateway.simulator.bill().length;
      await cut.ended;
      await rotated();
      await gateway.run(env);
      const again = await keyed("cut-by-a-kill", body);
      expect(again.status).toBe(200);
      expect(again.text).toContain('"error"');
      expect(again.text.split("\n\n").length).toBeGreaterThan(10);
      expect((await keyed("cut-by-a-kill", body)).text).toBe(again.text);
      expect(gateway.simulator.bill().length).toBe(bill);
      await slowProvider({});
      await assertSound();
    },
    PATIENCE_MS,
  );

  const slowProvider = (behaviour: object) =>
    fetch(`${gateway.simulator.url}/_sim`, { method: "POST", body: JSON.stringify({ behaviour }) });

  test(
    "while a gateway runs nothing is changed",
    async () => {
      const was = keyNow();
      const { code, stdout, stderr } = await rotate();
      expect({ code, was: keyNow() }).toEqual({ code: 1, was });
      expect(stdout + stderr).toMatch(
        store === "sqlite"
          ? /is in use by process \d+; stop it first/
          : /a gateway is running on this database/,
      );
      expect(readdirSync(dataDir)).not.toContain("data.key.next");
    },
    PATIENCE_MS,
  );

  test(
    "one damaged answer stops nothing: it is counted, and the others are answered",
    async () => {
      const rotten = await keyed("will-be-rotten");
      const well = await keyed("stays-as-it-is");
      const id = rotten.headers.get("x-request-id") ?? "";
      const told = await stopped(async () => {
        await onDisk(() =>
          disk.rows(
            "ledger",
            store === "sqlite"
              ? `UPDATE result SET sealed = zeroblob(length(sealed)) WHERE request_id = '${id}'`
              : `UPDATE result SET sealed = decode(repeat('00', length(sealed)), 'hex') WHERE request_id = '${id}'`,
          ),
        );
        return await rotated();
      });
      expect(told.answers.unreadable).toBe(1);
      expect((await keyed("stays-as-it-is")).text).toBe(well.text);
      const bill = gateway.simulator.bill().length;
      expect((await keyed("will-be-rotten")).status).toBe(409);
      expect(gateway.simulator.bill().length).toBe(bill);
    },
    PATIENCE_MS,
  );

  test(
    "receipts of a leaked key no longer verify; the same receipt fetched again does",
    async () => {
      const answer = await keyed("of-a-leaked-key");
      const id = answer.headers.get("x-request-id") ?? "";
      const receipt = await receiptOf(id);
      expect(await verifies(receipt)).toBe(true);
      await stopped(() => rotated("--leaked"));
      expect(await verifies(receipt)).toBe(false);
      expect(await verifies(await receiptOf(id))).toBe(true);
      const { keys } = JSON.parse((await gateway.get("/.well-known/jwks.json")).text) as { keys: unknown[] };
      expect(keys).toHaveLength(1);
    },
    PATIENCE_MS,
  );
});
