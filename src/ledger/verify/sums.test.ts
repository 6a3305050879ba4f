// The audit reads what grows with the requests and with the credits once, not once for each key, top-up or entry.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { migrate } from "../../store/migrate.ts";
import { SQLITE_SUMS } from "./sqlite/sums.ts";

const writer = new Database(":memory:", { safeIntegers: true });
migrate(writer);

/** A seek that finds all rows of one organization, whatever they are called there, once for each row of another table. */
const ALL_OF_ONE = /^SEARCH \w+ USING PRIMARY KEY \(org_id=\?( AND slot=\?)?\)/;
/** One sum for each organization, together one pass; and tables with one row for each. */
const ONE_PASS = new Set(["held", "chainEnds"]);

test.each(Object.entries(SQLITE_SUMS).filter(([name]) => !ONE_PASS.has(name)))(
  "%s reads no organization's requests or entries again and again",
  (_, query) => {
    const steps = writer.query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${query}`).all();
    expect(steps.map(({ detail }) => detail).filter((detail) => ALL_OF_ONE.test(detail))).toEqual([]);
  },
);
