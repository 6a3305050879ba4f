// Makes the audit log refuse all lines, or those of one action, during a test.
import type { Store, TestGateway } from "./gateway.ts";

/** Runs `work` while the store refuses every line of the audit log; with an action, only its lines. */
export async function unwritable(
  gateway: Pick<TestGateway, "tamper">,
  store: Store,
  action: string | null,
  work: () => Promise<void>,
): Promise<void> {
  const which = action === null ? "" : `WHEN (NEW.action = '${action}')`;
  const refused = `BEFORE INSERT ON audit_log FOR EACH ROW ${which}`;
  await gateway.tamper(
    store === "sqlite"
      ? `CREATE TRIGGER refuses ${refused} BEGIN SELECT RAISE(ABORT, 'nothing is written down'); END`
      : `CREATE FUNCTION refuses() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN RAISE EXCEPTION 'nothing is written down'; END $$;
         CREATE TRIGGER refuses ${refused} EXECUTE FUNCTION refuses()`,
  );
  try {
    await work();
  } finally {
    await gateway.tamper(
      store === "sqlite"
        ? "DROP TRIGGER refuses"
        : "DROP TRIGGER refuses ON audit_log; DROP FUNCTION refuses()",
    );
  }
}
