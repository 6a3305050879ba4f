// Members, invitations, alert rules and credits on the command line, against a running gateway: the text for people, the
// one document of `--json`, pages, CSV, and the next step after a refusal.
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PEOPLE_FILE } from "../../src/domain/data-files.ts";
import { Browser, firstOperator, newMember, PASSWORD, tokenOf } from "../support/browser.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";
import { type Ran, runToEnd, PROGRAM } from "../support/program.ts";

setDefaultTimeout(60_000);

const folder = mkdtempSync(join(tmpdir(), "tollgate-teams-"));
let gateway: TestGateway;
let root: Browser;
let org: string;
let environment: Record<string, string | undefined>;

beforeAll(async () => {
  gateway = await startGateway();
  root = await firstOperator(gateway);
  org = (await root.app("POST /operator/organizations", {}, { name: "Acme" })).id;
  await newMember(root, gateway, { org, role: "owner", email: "ada@example.com", name: "Ada" });
  const { url, token } = JSON.parse(readFileSync(join(gateway.dataDir, "operator.json"), "utf8"));
  environment = { ...process.env, TOLLGATE_URL: url, TOLLGATE_TOKEN: token, TOLLGATE_DATA_DIR: folder };
});
afterAll(async () => {
  await gateway.stop();
  rmSync(folder, { recursive: true, force: true });
});

const run = (...args: string[]): Promise<Ran> => runToEnd(PROGRAM, args, { env: environment, cwd: folder });
async function said(...args: string[]): Promise<string> {
  const ran = await run(...args);
  if (ran.code !== 0) throw new Error(`${args.join(" ")}: ${ran.out}${ran.err}`);
  return ran.out;
}
const json = async (...args: string[]) => JSON.parse(await said(...args, "--json"));

test("invitations come in pages, newest first, each once; one behind a thousand others is resent", async () => {
  const lab = (await root.app("POST /operator/organizations", {}, { name: "Lab" })).id;
  const people = new Database(join(gateway.dataDir, PEOPLE_FILE));
  const insert = people.prepare(
    `INSERT INTO invitation (id, digest, "organizationId", email, role, "invitedBy", "createdAt", "expiresAt", state)
     VALUES (?1, ?1, ?2, ?1 || '@example.com', 'viewer', 'usr_1', ?3, 1, 'open')`,
  );
  // Three within a millisecond, over days: none is open any more.
  people.transaction(() => {
    for (let n = 0; n < 1050; n += 1)
      insert.run(`inv_${String(n).padStart(4, "0")}`, lab, Math.floor(n / 3) + 1);
  })();
  people.close();
  const list = (...more: string[]) => run("invitations", "list", "--org", lab, "--json", ...more);
  const seen: string[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const { out, err } = await list("--limit", "200", ...(cursor === "" ? [] : ["--cursor", cursor]));
    const page: { data: { id: string }[]; next_cursor: string | null } = JSON.parse(out);
    seen.push(...page.data.map(({ id }) => id));
    expect(err.includes("There are more: add --cursor ")).toBe(page.next_cursor !== null);
    cursor = page.next_cursor;
  }
  expect(seen).toEqual(Array.from({ length: 1050 }, (_, n) => `inv_${String(1049 - n).padStart(4, "0")}`));
  const first = await list();
  expect(JSON.parse(first.out).data).toHaveLength(50);
  expect(first.err).toContain("There are more: add --cursor ");
  expect(await said("invitations", "resend", "inv_0000", "--org", lab)).toContain(
    "invites inv_0000@example.com as viewer",
  );
});

test("a person is invited, invited again, joins, gets another role by address and is removed", async () => {
  const at = ["--org", org];
  const sent = await said("invitations", "send", "bea@example.com", ...at, "--role", "viewer");
  expect(sent).toContain("invites bea@example.com as viewer, until ");
  expect(sent).toContain(`${gateway.url}/`);
  expect(sent).toContain("This gateway sends no mail: pass the link on yourself.");
  const [{ id }] = (await json("invitations", "list", ...at)).data;
  const { link } = await json("invitations", "resend", id, ...at);
  const account = { name: "Bea", password: PASSWORD };
  await new Browser(gateway.url).app("POST /invitations/accept", {}, { token: tokenOf(link), account });
  expect(await said("members", "role", "BEA@example.com", ...at, "--role", "developer")).toBe(
    `bea@example.com is developer of ${org}.\n`,
  );
  const list = await said("members", "list", ...at);
  expect(list).toMatch(/PERSON +NAME +EMAIL +ROLE +TWO-FACTOR +KEYS +THIS MONTH +LAST SEEN/);
  expect(list).toMatch(/usr_\w+ +Bea +bea@example.com +developer +no +0 +\$0.00/);
  const page = await run("members", "list", ...at, "--limit", "1");
  expect(page.err).toContain("There are more: add --cursor ");
  expect(await said("members", "remove", "bea@example.com", ...at)).toContain(
    `is no longer a member of ${org}.`,
  );
  expect((await json("members", "list", ...at)).data.map(({ email }: { email: string }) => email)).toEqual([
    "ada@example.com",
  ]);
});

test("an invitation is withdrawn", async () => {
  const { id } = await json("invitations", "send", "late@example.com", "--org", org, "--role", "admin");
  expect(await said("invitations", "withdraw", id, "--org", org)).toBe(
    "The invitation of late@example.com is withdrawn.\n",
  );
  expect(await said("invitations", "list", "--org", org)).toMatch(
    /late@example.com +admin +withdrawn +installation/,
  );
});

test("a refusal says what to do next", async () => {
  const refused = async (...args: string[]) => {
    const ran = await run(...args);
    expect([ran.code, ran.out]).toEqual([1, ""]);
    return ran.err;
  };
  expect(await refused("members", "role", "ada@example.com", "--org", org, "--role", "viewer")).toContain(
    "This is the organization's last owner. Make someone else an owner first.",
  );
  expect(await refused("members", "remove", "nobody@example.com", "--org", org)).toContain(
    `→ List who is: ./tollgate members list --org ${org}`,
  );
  expect(await refused("members", "remove", "usr_nobody", "--org", org)).toContain(
    "./tollgate members list --org ORG",
  );
  expect(await refused("invitations", "withdraw", "inv_x", "--org", org)).toContain(
    "./tollgate invitations list --org ORG",
  );
  const king = await run("invitations", "send", "x@example.com", "--org", org, "--role", "king");
  expect([king.code, king.err]).toEqual([2, expect.stringContaining("--role")]); // known to be wrong without a call
  expect(await refused("members", "list", "--org", "org_nobody")).toContain("./tollgate org list");
  expect(await refused("alerts", "remove", "alr_x", "--org", org)).toContain(
    "./tollgate alerts list --org ORG",
  );
  expect(await refused("alerts", "add", "--org", org, "--kind", "balance_below")).toContain("Correct --usd");
});

test("an organization is named by its name; if several share it, all are listed with their ids and nothing is done", async () => {
  await root.app("POST /operator/organizations", {}, { name: "Basalt Labs" });
  const list = async () => (await json("members", "list", "--org", "basalt labs")).data;
  expect(await list()).toEqual([]);
  const nobody = await run("credits", "grant", "--org", "Nobody's", "--usd", "5");
  expect([nobody.code, nobody.err]).toEqual([1, expect.stringContaining("./tollgate org list")]);

  const { id } = await root.app("POST /operator/organizations", {}, { name: "acme" });
  const refused = await run("credits", "grant", "--org", "Acme", "--usd", "5");
  expect([refused.code, refused.out]).toEqual([1, ""]);
  expect(refused.err).toContain('2 organizations are called "Acme"');
  expect(refused.err).toContain(`${org}, "Acme", created at 20`);
  expect(refused.err).toContain(`${id}, "acme", created at 20`);
  expect(refused.err).toContain("Give its id: --org ORG.");
  const { data } = await root.app("GET /operator/organizations");
  expect(data.map(({ available_usd }) => Number(available_usd))).toEqual(data.map(() => 0));
});

test("a rule is added with a channel, changed in part, and removed", async () => {
  const at = ["--org", org];
  const made = ["--name", "Pager", "--webhook", "https://hooks.example.com/x"];
  const { id: channel } = await json("channels", "add", ...at, ...made);
  const terms = ["--kind", "balance_below", "--usd", "5.00", "--channels", channel];
  const { id } = await json("alerts", "add", ...at, ...terms);
  expect(await said("alerts", "change", id, ...at, "--usd", "7")).toMatch(
    new RegExp(`${id} +balance_below +\\$7.00 +– +dashboard, ${channel} +watching`),
  );
  expect(await said("alerts", "change", id, ...at, "--off")).toMatch(/\$7.00 .* off/);
  const stale = await run("alerts", "change", id, ...at, "--on", "--if-version", "long-ago");
  expect([stale.code, stale.err.includes("alerts list, --org ORG --json")]).toEqual([1, true]);
  await said("channels", "remove", channel, ...at);
  expect(await said("alerts", "change", id, ...at, "--on")).toMatch(/dashboard +watching/);
  expect(await said("alerts", "remove", id, ...at)).toBe(`${id} is removed.\n`);
});

test("received credits are listed page by page, and as JSON and CSV to the end", async () => {
  const other = (await root.app("POST /operator/organizations", {}, { name: "=HYPERLINK" })).id;
  for (let n = 1; n <= 3; n++)
    await said(
      "credits",
      "grant",
      "--org",
      other,
      "--usd",
      `${n}`,
      "--kind",
      "purchase",
      "--reference",
      `inv ${n}`,
    );
  const at = ["--org", other];
  expect(await said("credits", "list", ...at)).toMatch(/purchase +\$3.00 +\$6.00 +inv 3/);
  const first = await json("credits", "list", ...at, "--limit", "2");
  const second = await json("credits", "list", ...at, "--limit", "2", "--cursor", first.next_cursor);
  const references = [...first.data, ...second.data].map(({ reference }) => reference);
  expect([references, second.next_cursor]).toEqual([["inv 3", "inv 2", "inv 1"], null]);
  const lines = (await said("credits", "list", ...at, "--csv")).trim().split("\r\n");
  expect(lines[0]).toBe("at,org,org_name,kind,amount_usd,source,reference,balance_after_usd,by,by_name");
  expect(lines.length).toBe(4);
  expect(lines[1]).toContain(`${other},'=HYPERLINK,purchase,3.000000000,`);
  const one = await run("credits", "list", ...at, "--csv", "--limit", "2");
  expect([one.out.trim().split("\r\n").length, one.err.includes("There are more")]).toEqual([3, true]);
  expect((await run("credits", "list", ...at, "--csv", "--json")).code).toBe(2);
});
