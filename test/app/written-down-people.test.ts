// Members, invitations, accounts and sign-ins, and their lines in the audit log: each change is atomic with its line,
// whether we or the sign-in library write it. If people have a file of their own, waiting lines are carried over in
// order, each once.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { auditLog } from "../support/audit-log.ts";
import { Browser, firstOperator, newMember, newOperator, PASSWORD, tokenOf } from "../support/browser.ts";
import { type Disk, openDisk } from "../support/damage.ts";
import { fillDisk } from "../support/fill-disk.ts";
import { STORES, type Store, startGateway, type TestGateway } from "../support/gateway.ts";
import { peopleState, peopleUnwritable } from "../support/people-state.ts";
import { scrape } from "../support/scrape.ts";
import { SmallDisk } from "../support/small-disk.ts";
import { codeOf, nextCodeOf } from "../support/totp.ts";
import { unwritable } from "../support/unwritable-lines.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(60_000);

interface Opened {
  gateway: TestGateway;
  disk: Disk;
}

async function opened(store: Store): Promise<Opened> {
  let databaseUrl: string | null = null;
  const gateway = await startGateway({
    store,
    configure: (config) => {
      config.signIn.perMinute = 10_000;
      databaseUrl = config.databaseUrl;
    },
  });
  await fetch(`${gateway.url}/app/v1/session`); // people are opened by the first call
  return { gateway, disk: await openDisk({ dataDir: gateway.dataDir, databaseUrl }) };
}

const closed = async ({ gateway, disk }: Opened): Promise<void> => {
  await disk.close();
  await gateway.stop();
};

const actions = async ({ ledger }: TestGateway): Promise<string[]> =>
  (await auditLog(ledger, { limit: 1000 })).map(({ action }) => action).toReversed();
const waiting = (disk: Disk) => disk.rows("people", `SELECT id FROM "auditOutbox" ORDER BY seq`);

type Act = (times: "first" | "second") => Promise<{ status: number }>;

describe.each(STORES)("on %s", (store) => {
  let at: Opened;
  let root: Browser;
  let org: string;
  beforeAll(async () => {
    at = await opened(store);
  });
  afterAll(() => closed(at));

  /** The first attempt while nothing can be logged, the second one when it can. */
  async function isOneWithItsLine(action: string, act: Act): Promise<void> {
    const before = [await peopleState(at.disk), (await actions(at.gateway)).length];
    await peopleUnwritable(at.disk, store, async () => {
      expect([action, (await act("first")).status >= 500]).toEqual([action, true]);
    });
    expect([await peopleState(at.disk), (await actions(at.gateway)).length]).toEqual(before);
    expect([action, (await act("second")).status < 300]).toEqual([action, true]);
    expect(await peopleState(at.disk)).not.toEqual(before[0] as Record<string, object[]>);
    const lines = (await actions(at.gateway)).slice(before[1] as number);
    expect(lines.filter((line) => line === action)).toEqual([action]);
  }

  test("the first account", async () => {
    const account = { name: "Root", email: "root@example.com", password: PASSWORD };
    root = new Browser(at.gateway.url);
    const token = tokenOf(at.gateway.signInLink);
    await isOneWithItsLine("person.first", () => root.try("POST /welcome", {}, { token, ...account }));
    org = (await root.app("POST /operator/organizations", {}, { name: "Acme" })).id;
  });

  test("invitations of members and operators, made, withdrawn and accepted", async () => {
    const invited = { email: "ann@example.com", role: "viewer" };
    const id = async (): Promise<string> =>
      (await root.app("GET /orgs/{org}/invitations", { org })).data[0]?.id ?? "";
    await isOneWithItsLine("member.invite", () => root.try("POST /orgs/{org}/invitations", { org }, invited));
    const invitation = await id();
    await isOneWithItsLine("member.uninvite", () =>
      root.try("DELETE /orgs/{org}/invitations/{invitation}", { org, invitation }),
    );
    const { link } = await root.app("POST /orgs/{org}/invitations", { org }, invited);
    const ann = { name: "Ann", password: PASSWORD };
    await isOneWithItsLine("member.join", () =>
      new Browser(at.gateway.url).try("POST /invitations/accept", {}, { token: tokenOf(link), account: ann }),
    );
    const other = { email: "ben@example.com" };
    await isOneWithItsLine("operator.invite", () => root.try("POST /operator/people", {}, other));
    const [made] = (await root.app("GET /operator/invitations")).data;
    await isOneWithItsLine("operator.uninvite", () =>
      root.try("DELETE /operator/invitations/{invitation}", { invitation: made?.id ?? "" }),
    );
  });

  test("roles, members who are removed or leave, an organization's requirements for them", async () => {
    const member = async (email: string) => {
      const browser = await newMember(root, at.gateway, { org, role: "developer", email });
      return { browser, id: (await browser.app("GET /session")).person?.id ?? "" };
    };
    const cleo = await member("cleo@example.com");
    const dan = await member("dan@example.com");
    const team = (await root.app("GET /orgs/{org}/team", { org })).data;
    const version = team.find(({ person }) => person.id === cleo.id)?.version;
    await isOneWithItsLine("member.role", () =>
      root.try("PATCH /orgs/{org}/team/{member}", { org, member: cleo.id }, { role: "billing", version }),
    );
    await isOneWithItsLine("member.remove", () =>
      root.try("DELETE /orgs/{org}/team/{member}", { org, member: cleo.id }),
    );
    await isOneWithItsLine("member.leave", () => dan.browser.try("POST /orgs/{org}/leave", { org }));
    const strict = (await root.app("POST /operator/organizations", {}, { name: "Strict" })).id;
    const owner = await newMember(root, at.gateway, { org: strict, role: "owner", email: "own@example.com" });
    const { version: settings } = await owner.app("GET /orgs/{org}/settings", { org: strict });
    const asked = { require_two_factor: true, version: settings };
    await isOneWithItsLine("organization.settings", () =>
      owner.try("PATCH /orgs/{org}/settings", { org: strict }, asked),
    );
  });

  test("an operator who is removed, and a link for a new password that is made and used", async () => {
    const eve = await newOperator(root, at.gateway, "eve@example.com");
    const person = (await eve.app("GET /session")).person?.id ?? "";
    await isOneWithItsLine("operator.remove", () => root.try("DELETE /operator/people/{person}", { person }));
    let link = "";
    await isOneWithItsLine("person.reset", async () => {
      const made = await root.try("POST /operator/people/{person}/reset", { person }, { two_factor: true });
      link = (made.json as unknown as { link?: string }).link ?? "";
      return made;
    });
    const password = "another horse battery";
    await isOneWithItsLine("person.password", () =>
      new Browser(at.gateway.url).try("POST /reset", {}, { token: tokenOf(link), password }),
    );
  });

  test("a person's own name, password, sessions and second factor, by the sign-in library, too", async () => {
    const email = "fay@example.com";
    const fay = await newMember(root, at.gateway, { org, role: "owner", email });
    const signIn = (password: string) =>
      new Browser(at.gateway.url).send("POST", "/auth/sign-in/email", { email, password });
    await isOneWithItsLine("person.rename", () => fay.try("PATCH /profile", {}, { name: "Fay F" }));
    await isOneWithItsLine("person.sign_in", () => signIn(PASSWORD));
    const other = (await fay.app("GET /profile")).sessions.find(({ current }) => !current)?.id ?? "";
    await isOneWithItsLine("person.session_end", () =>
      fay.try("DELETE /profile/sessions/{session}", { session: other }),
    );
    await signIn(PASSWORD);
    await isOneWithItsLine("person.session_end", () => fay.try("POST /profile/sessions/end-others", {}));
    const change = { current: PASSWORD, next: "another horse battery" };
    await isOneWithItsLine("person.password", () => fay.try("POST /profile/password", {}, change));
    const password = change.next;
    const enabled = await fay.send<{ totpURI: string }>("POST", "/auth/two-factor/enable", { password });
    const { totpURI: uri } = enabled.json;
    await isOneWithItsLine("person.second_factor_on", (times) =>
      fay.send("POST", "/auth/two-factor/verify-totp", {
        code: times === "first" ? codeOf(uri) : nextCodeOf(uri),
      }),
    );
    await isOneWithItsLine("person.backup_codes", () =>
      fay.send("POST", "/auth/two-factor/generate-backup-codes", { password }),
    );
    await isOneWithItsLine("person.second_factor_off", () =>
      fay.send("POST", "/auth/two-factor/disable", { password }),
    );
    const kept = fay.copy();
    await isOneWithItsLine("person.sign_out", () => kept.copy().send("POST", "/auth/sign-out"));
  });

  test("many concurrent changes leave one line each", async () => {
    const before = (await actions(at.gateway)).length;
    const names = Array.from({ length: 20 }, (_, n) => `Root ${n}`);
    const renamed = await Promise.all(names.map((name) => root.try("PATCH /profile", {}, { name })));
    expect(new Set(renamed.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await actions(at.gateway)).slice(before)).toEqual(names.map(() => "person.rename"));
  });
});

describe("if people have a file of their own", () => {
  const failures = async (gateway: TestGateway): Promise<number> =>
    (await scrape(gateway.url)).samples.find(({ labels }) => labels["task"] === "audit_outbox")?.value ?? 0;

  test("lines that the log does not take wait, and come in their order with the next one that it takes", async () => {
    const at = await opened("sqlite");
    const root = await firstOperator(at.gateway);
    const before = (await actions(at.gateway)).length;
    const rename = (name: string) => root.app("PATCH /profile", {}, { name });
    await unwritable(at.gateway, "sqlite", null, async () => {
      for (const name of ["One", "Two", "Three"]) await rename(name);
      expect((await actions(at.gateway)).length).toBe(before);
      expect(await waiting(at.disk)).toHaveLength(3);
    });
    expect(await failures(at.gateway)).toBe(3);
    await rename("Four");
    const lines = (await auditLog(at.gateway.ledger, { limit: 4 })).toReversed();
    expect(lines.map(({ after }) => after)).toEqual(
      ["One", "Two", "Three", "Four"].map((name) => JSON.stringify({ name })),
    );
    expect(await waiting(at.disk)).toEqual([]);
    await closed(at);
  });

  test("a line that is damaged is gone past and told of once; those behind it come", async () => {
    const at = await opened("sqlite");
    const root = await firstOperator(at.gateway);
    await at.disk.rows(
      "people",
      `INSERT INTO "auditOutbox" (id, line) VALUES ('rotten', '{'), ('empty', '{}')`,
    );
    for (const name of ["One", "Two"]) {
      await root.app("PATCH /profile", {}, { name });
      const [line] = await auditLog(at.gateway.ledger, { limit: 1 });
      expect(line?.after).toBe(JSON.stringify({ name }));
    }
    expect(await waiting(at.disk)).toEqual([{ id: "rotten" }, { id: "empty" }]);
    expect(await failures(at.gateway)).toBe(2);
    await closed(at);
  });

  test("a change that fails in the middle leaves the file usable for the next one", async () => {
    const at = await opened("sqlite");
    const root = await firstOperator(at.gateway);
    await at.disk.rows(
      "people",
      `CREATE TRIGGER fails BEFORE UPDATE ON "user" BEGIN SELECT RAISE(ABORT, 'no change'); END`,
    );
    expect((await root.try("PATCH /profile", {}, { name: "One" })).status).toBe(500);
    await at.disk.rows("people", "DROP TRIGGER fails");
    await root.app("PATCH /profile", {}, { name: "Two" });
    expect((await root.app("GET /session")).person?.name).toBe("Two");
    await closed(at);
  });

  test("waiting lines are carried over at the start, before anybody opens the dashboard", async () => {
    const at = await opened("sqlite");
    const root = await firstOperator(at.gateway);
    await unwritable(at.gateway, "sqlite", null, async () => {
      await root.app("PATCH /profile", {}, { name: "One" });
    });
    await at.gateway.restart();
    await waitFor(async () => (await waiting(at.disk)).length === 0, "its way");
    expect((await actions(at.gateway)).filter((action) => action === "person.rename")).toHaveLength(1);
    await closed(at);
  });
});

const disk = SmallDisk.mount(60);
afterAll(() => disk.release());

// Needs the right to mount a small disk.
test.skipIf(!disk.isMounted)("on a full disk no change of people is made without its line", async () => {
  const at = await disk.asTmpdir(() => opened("sqlite"));
  const root = await firstOperator(at.gateway);
  const hog = join(disk.path, "hog");
  fillDisk(hog);
  let made = 0;
  // Earlier writes may leave a little room.
  for (let refused = 0; refused < 20; ) {
    const { status } = await root.try("PATCH /profile", {}, { name: `Root ${made}` });
    if (status === 200) made += 1;
    else refused += 1;
    if (made > 2000) throw new Error("there is room without end");
  }
  rmSync(hog);
  await root.app("PATCH /profile", {}, { name: "Root with room" });
  expect(await waiting(at.disk)).toEqual([]);
  const lines = (await auditLog(at.gateway.ledger, { limit: 5000 })).filter(
    ({ action }) => action === "person.rename",
  );
  expect(lines.toReversed().map(({ after }) => after)).toEqual([
    ...Array.from({ length: made }, (_, n) => JSON.stringify({ name: `Root ${n}` })),
    JSON.stringify({ name: "Root with room" }),
  ]);
  await closed(at);
});
