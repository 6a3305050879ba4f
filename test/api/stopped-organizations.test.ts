// An organization whose books do not add up is stopped, and only that one: its rows are damaged behind the gateway's
// back while two organizations make calls. Its running calls are settled, anything that can cost something is refused
// before anything is held or sent, and it continues when its books are right again, or when an operator has decided.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { byItself } from "../../src/domain/actor.ts";
import { nanoUsd, ZERO_USD } from "../../src/domain/money.ts";
import { type Browser, firstOperator } from "../support/browser.ts";
import { type Customer, hello, startGateway, STORES, type TestGateway } from "../support/gateway.ts";
import { scrape } from "../support/scrape.ts";
import { waitFor } from "../support/wait.ts";

interface Stopped {
  org: string;
  since: string;
  violations: {
    invariant: string;
    org: string;
    request_id: string | null;
    expected: string;
    found: string;
  }[];
}
interface Audit {
  ok: boolean;
  violations: Stopped["violations"];
  accepted: Stopped["violations"];
}
interface Refused {
  error: { message: string; type: string; code: string; param: null };
}

const MORE = "UPDATE org_balance SET available = available + 7000000000 WHERE org_id = ?1";
const LESS = "UPDATE org_balance SET available = available - 7000000000 WHERE org_id = ?1";
const EVERY_MS = 2000;
/** Of the other organization's traffic, which must only never be away. */
const BETWEEN_CALLS_MS = 25;

describe.each(STORES)("on %s", (store) => {
  let gateway: TestGateway;
  let other: Customer;
  let root: Browser;
  beforeAll(async () => {
    gateway = await startGateway({ store, booksEveryMs: EVERY_MS });
    root = await firstOperator(gateway);
    other = await gateway.customer({ usd: "50" });
  });
  afterAll(() => gateway.stop());

  const status = async (who: Customer): Promise<number> => (await gateway.chat(who, hello())).status;
  const stops = async (): Promise<Stopped[]> =>
    (await gateway.admin<{ data: Stopped[] }>("GET", "/ledger/stopped")).json.data;
  const audit = async (): Promise<Audit> => (await gateway.admin<Audit>("GET", "/ledger/audit")).json;
  const untilStopped = (who: Customer): Promise<void> =>
    waitFor(async () => (await status(who)) === 503, "the stop of its paid calls");
  const untilServed = (who: Customer): Promise<void> =>
    waitFor(async () => (await look(), await status(who)) === 200, "its paid calls to go on");
  /** A check that does not wait for its turn; the first test and test/replicas wait. */
  const look = (): Promise<void> => gateway.ledger.checkBooks([]);
  const looks = async (): Promise<void> => {
    for (let n = 0; n < 3; n += 1) await look();
  };
  const figure = async (): Promise<number | undefined> =>
    (await scrape(gateway.url)).samples.find(({ name }) => name === "tollgate_stopped_organizations")?.value;

  test("it is refused before anything is held or sent, what runs is settled, and nobody else notices", async () => {
    const victim = await gateway.customer({ usd: "20" });
    const { organizationId } = victim;
    const keyed = { "idempotency-key": "before-the-damage" };
    const kept = await gateway.chat(victim, hello(), keyed);
    const endless = { until_well: true, tokens_per_second: 60, completion_tokens: 150 };
    gateway.simulator.behave({ behaviour: endless, calls: 1 });
    const running = gateway.stream(victim, { ...hello(), max_tokens: 150 });
    await waitFor(async () => gateway.simulator.bill().at(-1)?.outcome === "running", "the stream");
    const others: number[] = [];
    let calling = true;
    const traffic = (async () => {
      for (; calling; await Bun.sleep(BETWEEN_CALLS_MS)) others.push(await status(other));
    })();

    await gateway.tamper(MORE, organizationId);
    await untilStopped(victim);
    const sent = (): number => gateway.simulator.bill().length;
    calling = false;
    await traffic;
    const before = sent();
    const { available } = await gateway.balance(victim);
    const reply = await gateway.chat<Refused>(victim, hello());
    expect([reply.status, reply.headers.get("x-should-retry"), reply.headers.get("retry-after")]).toEqual([
      503,
      "false",
      null,
    ]);
    expect(reply.json.error).toMatchObject({
      type: "server_error",
      code: "organization_stopped",
      param: null,
    });
    expect(reply.json.error.message).toContain("Ask the operator");
    const stream = await gateway.stream(victim, hello());
    expect([stream.status, JSON.parse(stream.text).error.code]).toEqual([503, "organization_stopped"]);
    expect(await status(other)).toBe(200);
    expect(sent()).toBe(before + 1); // the other organization's
    expect((await gateway.balance(victim)).available).toBe(available);

    // Running calls end as they would have; stored answers are replayed; free endpoints stay free.
    gateway.simulator.behaveWell();
    const ended = await running;
    expect(ended.events.done).toBe(true);
    expect((await gateway.balance(victim)).held).toBe(ZERO_USD);
    const id = ended.headers.get("x-request-id") ?? "";
    expect(await gateway.request(id)).toMatchObject({ state: "settled" });
    const again = await gateway.chat(victim, hello(), keyed);
    expect([again.status, again.text]).toEqual([200, kept.text]);
    for (const path of ["/v1/models", "/v1/credits", `/v1/generation?id=${id}`])
      expect([path, (await gateway.get(victim, path)).status]).toEqual([path, 200]);
    const quoted = await fetch(`${gateway.baseUrl}/chat/completions/quote`, {
      method: "POST",
      headers: { authorization: `Bearer ${victim.secret}`, "content-type": "application/json" },
      body: JSON.stringify(hello()),
    });
    expect(await quoted.json()).toMatchObject({ admissible: false, binding_limit: "organization" });

    // Reported: both numbers, the figure, the audit log.
    const [stop, ...more] = await stops();
    expect([more, stop?.org]).toEqual([[], organizationId]);
    const owned = stop?.violations.find(({ invariant }) => invariant.startsWith("I12 "));
    expect(BigInt(owned?.found ?? 0) - BigInt(owned?.expected ?? 0)).toBe(7_000_000_000n);
    expect(await figure()).toBe(1);
    const audit = await gateway.admin<{ ok: boolean; stopped: Stopped[] }>("GET", "/ledger/audit");
    expect([audit.json.ok, audit.json.stopped.map(({ org }) => org)]).toEqual([false, [organizationId]]);
    const lines = (await gateway.rowsOf("audit_log")) as { action: string; org_id: string | null }[];
    expect(lines.filter(({ action }) => action === "organization.stop").map(({ org_id }) => org_id)).toEqual([
      organizationId,
    ]);
    expect(others.filter((one) => one !== 200)).toEqual([]);

    // On the pages: to its people, and to operators.
    const { attention } = await root.app("GET /orgs/{org}/overview", { org: organizationId });
    expect(attention[0]).toMatchObject({ kind: "stopped", target: null });
    expect(attention[0]?.text).toContain("its paid requests are refused");
    const page = await root.app("GET /operator/stopped", {});
    expect(page.data.map(({ org, org_name }) => [org, org_name])).toEqual([[organizationId, "Test"]]);
    expect((await root.app("GET /operator/health", {})).stopped).toBe(1);
    const elsewhere = await root.app("GET /orgs/{org}/overview", { org: other.organizationId });
    expect(elsewhere.attention.filter(({ kind }) => kind === "stopped")).toEqual([]);

    // It survives the process: the first call of the next one is refused.
    await gateway.restart();
    expect([await status(victim), await status(other)]).toEqual([503, 200]);
  });

  test("entries made meanwhile cannot be repaired: an operator decides, once the balance is right", async () => {
    const org = (await stops())[0]?.org ?? "";
    const victim = await gateway.key(org);
    const resume = (): ReturnType<TestGateway["admin"]> =>
      gateway.admin("POST", `/ledger/stopped/${org}/resume`, { reason: "a row was changed by hand" });
    const early = await resume();
    expect([early.status, early.text]).toEqual([409, expect.stringContaining("available should be")]);
    await gateway.tamper(LESS, org);
    await looks();
    expect(await status(victim)).toBe(503); // entries still do not join
    expect((await resume()).status).toBe(200);
    await untilServed(victim);
    expect(await figure()).toBe(0);
    expect((await resume()).status).toBe(404);
    // Accepted as it is from now on: by the next checks, by the full verification, and after a start.
    await looks();
    expect(await status(victim)).toBe(200);
    await gateway.admin("GET", "/ledger/audit");
    expect(await status(victim)).toBe(200);
    await gateway.restart();
    await looks();
    expect([await status(victim), await stops()]).toEqual([200, []]);
    // The audit still names what was accepted, apart from what was not, so that a new finding is noticed.
    const history = await audit();
    expect([history.ok, history.violations]).toEqual([true, []]);
    expect(history.accepted.length).toBeGreaterThan(0);
    for (const { invariant, org: whose } of history.accepted)
      expect([invariant, whose]).toEqual(["I5 rows join", org]);
    const onPage = await root.app("POST /operator/ledger/audit");
    expect(onPage.accepted.map(({ org_name }) => org_name)).toEqual(history.accepted.map(() => "Test"));
    if (store === "sqlite") await gateway.tamper("DROP TRIGGER ledger_entry_no_update");
    const first = (change: string): Promise<void> =>
      gateway.tamper(
        `UPDATE ledger_entry SET requests = requests ${change} 1 WHERE org_id = ?1 AND version = 1`,
        org,
      );
    await first("+");
    const tampered = await audit();
    expect([tampered.ok, tampered.violations.map(({ invariant }) => invariant)]).toEqual([
      false,
      ["I5 hash chain"],
    ]);
    expect(tampered.accepted).toEqual(history.accepted);
    await first("-");
    // And it is still watched.
    await gateway.tamper(MORE, org);
    await look();
    expect(await status(victim)).toBe(503);
    await gateway.tamper(LESS, org);
    await waitFor(async () => (await stops()).length === 0 || (await resume()).status === 200, "it to go on");
    await untilServed(victim);
  });

  test.each([
    ["what is held", "UPDATE org_balance SET held = held + 5 WHERE org_id = ?1", "I3", "held = held - 5"],
    [
      "what was spent",
      "UPDATE org_balance SET spent = spent + 5 WHERE org_id = ?1",
      "I12",
      "spent = spent - 5",
    ],
    [
      "the head of its chain",
      "UPDATE org_balance SET version = version + 1 WHERE org_id = ?1",
      "I5",
      "version = version - 1",
    ],
  ])(
    "%s is found, and service resumes by itself once it is repaired",
    async (_, damage, invariant, mended) => {
      const victim = await gateway.customer({ usd: "20" });
      expect(await status(victim)).toBe(200);
      await gateway.tamper(damage, victim.organizationId);
      await look(); // no call meets the damage
      expect(await status(victim)).toBe(503);
      const [stop] = await stops();
      expect(stop?.violations.some((one) => one.invariant.startsWith(`${invariant} `))).toBe(true);
      await gateway.tamper(`UPDATE org_balance SET ${mended} WHERE org_id = ?1`, victim.organizationId);
      await untilServed(victim);
      expect([await stops(), await status(other)]).toEqual([[], 200]);
    },
  );

  test("a changed old entry is found by the full verification only; the charge of a single request stops nobody", async () => {
    const victim = await gateway.customer({ usd: "20" });
    const { organizationId } = victim;
    const id = (await gateway.chat(victim, hello())).headers.get("x-request-id") ?? "";
    await looks();
    await gateway.tamper("UPDATE request SET charge = charge + 1 WHERE request_id = ?1", id);
    const one = await gateway.admin<{ ok: boolean; stopped: Stopped[] }>("GET", "/ledger/audit");
    expect([one.json.ok, one.json.stopped, await status(victim)]).toEqual([false, [], 200]);
    await gateway.tamper("UPDATE request SET charge = charge - 1 WHERE request_id = ?1", id);
    await looks();
    const changed = "UPDATE ledger_entry SET at = at + ?2 WHERE org_id = ?1 AND version = 1";
    const by = (at: string): string => changed.replace("?2", at);
    await gateway.tamper(by("1"), organizationId);
    await looks();
    expect(await status(victim)).toBe(200);
    const all = await gateway.admin<{ stopped: Stopped[] }>("GET", "/ledger/audit");
    expect(all.json.stopped.map(({ org }) => org)).toEqual([organizationId]);
    expect(await status(victim)).toBe(503);
    await looks(); // each check reads its whole chain
    expect(await status(victim)).toBe(503);
    await gateway.tamper(by("-1"), organizationId);
    await untilServed(victim);
  });

  test("a damaged row of a stop affects only itself: it stops nobody else, and is removed when the books are right", async () => {
    const victim = await gateway.customer({ usd: "20" });
    const { organizationId } = victim;
    await gateway.tamper("UPDATE org_balance SET spent = spent + 5 WHERE org_id = ?1", organizationId);
    await look();
    await gateway.tamper(
      "UPDATE stopped_organization SET since = 9223372036854775807, violations = '{', base = 'x' WHERE org_id = ?1",
      organizationId,
    );
    expect((await gateway.admin("GET", "/ledger/stopped")).status).toBe(200);
    expect((await gateway.admin("GET", "/ledger/audit")).status).toBe(200);
    const its = (await stops()).find(({ org }) => org === organizationId);
    expect(its?.violations.map(({ invariant }) => invariant.split(" ")[0])).toContain("I12"); // reported again
    expect([await status(victim), await status(other)]).toEqual([503, 200]);
    await gateway.tamper("UPDATE org_balance SET spent = spent - 5 WHERE org_id = ?1", organizationId);
    await look();
    expect([await stops(), await status(victim)]).toEqual([[], 200]);
  });

  test("a table that was restored alone stops every organization concerned, however many, until it is right", async () => {
    const many: Customer[] = [];
    for (let n = 0; n < 110; n += 1) many.push(await gateway.customer({ usd: "0" }));
    const all = "UPDATE org_balance SET purchased = purchased + 5";
    await gateway.tamper(all);
    await look();
    expect(await figure()).toBeGreaterThanOrEqual(110);
    await looks();
    const named = new Set((await stops()).map(({ org }) => org));
    expect(many.filter(({ organizationId }) => !named.has(organizationId))).toEqual([]);
    await gateway.tamper(all.replace("+", "-"));
    await look();
    expect(await figure()).toBe(0);
    expect(await status(other)).toBe(200);
  }, 120_000);
});

/** Ten of each, concurrently, while the books are checked again and again. */
describe.each(STORES)("on %s, honest books", (store) => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway({ store });
  });
  afterAll(() => gateway.stop());

  test("books in motion stop nobody, wherever a check falls between their commits", async () => {
    const busy = await gateway.customer({ usd: "20" });
    const poor = await gateway.customer({ usd: "0.01" }); // its running holds are lowered
    const inDebt = await gateway.customer({ usd: "0" });
    const credits = async (who: Customer, n: number): Promise<void> => {
      const { organizationId } = who;
      const paid = { organizationId, amount: nanoUsd(1_000_000_000n), source: "test", externalId: `pi_${n}` };
      await gateway.ledger.topUp({ ...paid, kind: "purchase" }, byItself("test"));
      const served = await gateway.chat(who, hello());
      const id = served.headers.get("x-request-id") ?? "";
      // A busy database may make the gateway refuse some.
      const charge = served.status === 200 ? (await gateway.request(id)).charge : ZERO_USD;
      const refund = { ...paid, kind: "refund", amount: charge, target: id, externalId: `re_${n}` } as const;
      if (charge > 0n && n % 2 === 0) await gateway.ledger.reverse(refund, byItself("test"));
      const back = { ...paid, kind: "chargeback", target: `pi_${n}`, externalId: `dp_${n}` } as const;
      await gateway.ledger.reverse(back, byItself("test"));
    };
    const organizations = [busy, poor, inDebt].map(({ organizationId }) => organizationId);
    let looking = true;
    let looked = 0;
    const looks = (async () => {
      for (; looking; looked += 1) await gateway.ledger.checkBooks(looked % 2 === 0 ? organizations : []);
    })();
    gateway.simulator.behave({ behaviour: { tokens_per_second: 200, completion_tokens: 60 }, calls: 20 });
    const wide = { ...hello(), max_tokens: 2_000 };
    for (let round = 0; round < 3 || (looked < 6 && round < 40); round += 1)
      await Promise.all(
        Array.from({ length: 10 }, (_, n) => [
          gateway.stream(busy, hello(), n % 2 === 0 ? { "idempotency-key": `motion-${round}-${n}` } : {}),
          gateway.chat(busy, hello("nobody-has-this")),
          gateway.chat(poor, wide),
          credits(inDebt, round * 10 + n),
        ]).flat(),
      );
    looking = false;
    await looks;
    expect(looked).toBeGreaterThan(3);
    expect(await gateway.rowsOf("stopped_organization")).toEqual([]);
    await gateway.assertSound();
  });
});
