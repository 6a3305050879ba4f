// Reads, and makes unwritable, what either store keeps of people, behind the gateway's back.
import type { Disk } from "./damage.ts";
import type { Store } from "./gateway.ts";

const TABLES = {
  user: "1 = 1",
  account: "1 = 1",
  session: "1 = 1",
  twoFactor: "1 = 1",
  membership: "1 = 1",
  invitation: "1 = 1",
  organizationRule: "1 = 1",
  // Links for new passwords only; an authenticator's code is used up whatever happens.
  verification: "identifier LIKE 'reset %'",
};
/** Written on every visit, or by the library at its own times. */
const PASSING = new Set(["seenAt", "updatedAt"]);

/** Accounts, sessions, members, invitations and settings, by table. */
export async function peopleState(disk: Disk): Promise<Record<string, object[]>> {
  const state: Record<string, object[]> = {};
  for (const [table, which] of Object.entries(TABLES)) {
    const rows = await disk.rows(
      "people",
      `SELECT * FROM ${disk.named("people", table)} WHERE ${which} ORDER BY id`,
    );
    state[table] = rows.map((row) =>
      Object.fromEntries(Object.entries(row).filter(([column]) => !PASSING.has(column))),
    );
  }
  return state;
}

/**
 * Runs `work` while no audit line about people can be written: neither into the outbox of their file, nor into the
 * log beside their schema.
 */
export async function peopleUnwritable(disk: Disk, store: Store, work: () => Promise<void>): Promise<void> {
  const refused =
    store === "sqlite"
      ? [
          `CREATE TRIGGER refuses BEFORE INSERT ON "auditOutbox" BEGIN SELECT RAISE(ABORT, 'nothing is written down'); END`,
        ]
      : [
          `CREATE FUNCTION refuses() RETURNS trigger LANGUAGE plpgsql AS
             $$ BEGIN RAISE EXCEPTION 'nothing is written down'; END $$`,
          "CREATE TRIGGER refuses BEFORE INSERT ON audit_log FOR EACH ROW EXECUTE FUNCTION refuses()",
        ];
  const taken =
    store === "sqlite"
      ? ["DROP TRIGGER refuses"]
      : ["DROP TRIGGER refuses ON audit_log", "DROP FUNCTION refuses()"];
  for (const statement of refused) await disk.rows("people", statement);
  try {
    await work();
  } finally {
    for (const statement of taken) await disk.rows("people", statement);
  }
}
