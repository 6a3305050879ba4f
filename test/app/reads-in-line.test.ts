// One person's many reads do not block another's (hardening.md §1): only a few reads of each person run concurrently,
// and changes have connections separate from those of all reads.
import { expect, test } from "bun:test";
import pg from "pg";
import { firstOperator, newMember } from "../support/browser.ts";
import { startGateway } from "../support/gateway.ts";

const MANY = 120;
/** The last caller is looked up behind all the others, before there is a queue. */
const BEHIND = 20;

test(`some of ${MANY} reads of one person end after the one that another person requests last`, async () => {
  const gateway = await startGateway({ store: "sqlite" }); // one thread, which nothing else on the machine reorders
  try {
    const root = await firstOperator(gateway);
    const orgs = [await gateway.customer(), await gateway.customer()].map(
      ({ organizationId }) => organizationId,
    );
    const member = (at: number) =>
      newMember(root, gateway, { org: orgs[at] ?? "", role: "owner", email: `owner${at}@example.com` });
    const [many, one] = [await member(0), await member(1)];
    const read = (browser: typeof many, org = "") => browser.app("GET /orgs/{org}/usage", { org });
    await Promise.all([read(many, orgs[0]), read(one, orgs[1])]); // everything is loaded
    let ended = 0;
    const reads = Array.from({ length: MANY }, () => read(many, orgs[0]).then(() => (ended += 1)));
    await read(one, orgs[1]);
    expect(ended).toBeLessThan(MANY - BEHIND);
    await Promise.all(reads);
    expect(ended).toBe(MANY);
  } finally {
    await gateway.stop();
  }
});

test("while pages wait for PostgreSQL, keys are changed and revoked", async () => {
  let connectionString = "";
  const gateway = await startGateway({
    store: "postgres",
    configure: ({ databaseUrl }) => (connectionString = databaseUrl ?? ""),
  });
  const admin = new pg.Client({ connectionString });
  await admin.connect();
  try {
    const root = await firstOperator(gateway);
    const { organizationId: org, keyId } = await gateway.customer();
    const owner = await newMember(root, gateway, { org, role: "owner", email: "owner@example.com" });
    await owner.app("GET /orgs/{org}/usage", { org });
    await admin.query("BEGIN");
    await admin.query("LOCK TABLE usage_hour IN ACCESS EXCLUSIVE MODE");
    let ended = 0;
    const reads = Array.from({ length: 20 }, () =>
      owner.try("GET /orgs/{org}/usage", { org }).finally(() => (ended += 1)),
    );
    const { state } = await root.app("POST /orgs/{org}/keys/{key}/revoke", { org, key: keyId }, {});
    expect([state, ended]).toEqual(["revoked", 0]);
    await admin.query("COMMIT");
    await Promise.all(reads);
  } finally {
    await admin.end();
    await gateway.stop();
  }
});
