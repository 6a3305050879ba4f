// Moves people from the embedded store into PostgreSQL, row by row through the library's own adapters, so
// that each store writes times and flags in its own format. Sessions are included: nobody has to sign in
// again. Existing rows are kept, so that an interrupted copy can be repeated.
import { existsSync, renameSync } from "node:fs";
import { systemClock } from "../lib/clock.ts";
import { crashPoint } from "../lib/crash-point.ts";
import { type CarryPorts, carryLines } from "./outbox.ts";
import { openSignIn } from "./sign-in.ts";
import { openPeopleStore } from "./open-store.ts";
import { peopleFile } from "./store.ts";

/** Parents first. Throttles and remembered forms are left behind: they last minutes. */
const MODELS = [
  "user",
  "account",
  "session",
  "verification",
  "twoFactor",
  "passkey",
  "membership",
  "invitation",
  "organizationRule",
  "usageView",
];
const PAGE = 500;
const NOTHING_IS_SIGNED = "rows are copied as they are, sealed ones too";

/**
 * Carries waiting audit lines into the old store's log, so that they move along with it: the new store has no
 * outbox.
 */
export async function carryBeforeMove(dataDir: string, on: CarryPorts): Promise<void> {
  if (!existsSync(peopleFile(dataDir))) return;
  const store = await openPeopleStore({ dataDir, databaseUrl: null });
  try {
    await store.outbox?.prepare();
    if (store.outbox !== null) await carryLines(store.outbox, on);
  } finally {
    await store.close();
  }
}

/** The number of rows copied; 0 if nobody ever signed in. */
export async function copyPeople(dataDir: string, databaseUrl: string): Promise<number> {
  if (!existsSync(peopleFile(dataDir))) return 0;
  const settings = {
    secret: NOTHING_IS_SIGNED,
    url: "http://localhost",
    origins: [],
    oidc: [],
    signInsPerMinute: 1,
    clock: systemClock,
  };
  const source = await openPeopleStore({ dataDir, databaseUrl: null });
  const target = await openPeopleStore({ dataDir, databaseUrl });
  try {
    const { records: from } = await openSignIn({ ...settings, store: source });
    const { records: into } = await openSignIn({ ...settings, store: target });
    let copied = 0;
    for (const model of MODELS) {
      for (let offset = 0; ; offset += PAGE) {
        const sortBy = { field: "id", direction: "asc" as const };
        const rows = await from.findMany<{ id: string }>({ model, limit: PAGE, offset, sortBy });
        for (const data of rows) {
          crashPoint("move_people_row");
          const where = [{ field: "id", value: data.id }];
          if ((await into.count({ model, where })) > 0) continue;
          await into.create({ model, data, forceAllowId: true });
          copied++;
        }
        if (rows.length < PAGE) break;
      }
      const [here, there] = await Promise.all([from.count({ model }), into.count({ model })]);
      if (here !== there) throw new Error(`${model}: ${here} rows here, ${there} there`);
    }
    return copied;
  } finally {
    await source.close();
    await target.close();
  }
}

/** Renames the old file, so that no gateway goes on using it by accident. */
export function setPeopleAside(dataDir: string): void {
  const file = peopleFile(dataDir);
  if (existsSync(file)) renameSync(file, `${file}.moved`);
}
