// A change whose connection is lost runs again if it cannot have happened, and never if it may have.
import { expect, test } from "bun:test";
import type { PoolClient } from "pg";
import { Lines } from "../../lib/lines.ts";
import { isOverloaded } from "../../domain/overloaded.ts";
import { lostWhileStarting } from "../../store/postgres-error.ts";
import { ask } from "../../store/sql.ts";
import type { Work } from "../ledger.ts";
import { change } from "./changes.ts";

const LOST = "Connection terminated unexpectedly";

/** Returns a pool of connections, each lost at the statement of the given number, counted from 0; null: it is not lost. */
function poolOf(...lostAt: (number | null)[]) {
  const sent: string[][] = [];
  const thrownAway: boolean[] = [];
  const connect = async (): Promise<PoolClient> => {
    const dies = lostAt[sent.length] ?? null;
    const mine: string[] = [];
    sent.push(mine);
    const query = async (asked: string | { text: string }): Promise<{ rows: unknown[] }> => {
      if (mine.length === dies) throw new Error(LOST);
      mine.push(typeof asked === "string" ? asked : asked.text);
      return { rows: mine.length === 2 ? [[1n]] : [{ made: true }] };
    };
    return {
      query,
      release: (broken?: Error) => thrownAway.push(broken !== undefined),
    } as unknown as PoolClient;
  };
  const pool = { connect } as Parameters<typeof change>[0]["pool"];
  return { pool, sent, thrownAway };
}

const work: Work<boolean> = function* () {
  const [row] = yield* ask("UPDATE something", []);
  return row?.["made"] === true;
};

test("a change whose connection is lost before its COMMIT runs once more on another connection", async () => {
  for (const at of [0, 1, 2]) {
    const { pool, sent, thrownAway } = poolOf(at, null);
    expect(await change({ pool, stamps: null, lines: new Lines(1) }, null, work)).toBe(true);
    expect(sent[1]?.at(-1)).toBe("COMMIT");
    expect(thrownAway).toEqual([true, false]);
  }
});

test("a change lost during its COMMIT, lost twice, or without another connection is not run again", async () => {
  const none = { connect: () => Promise.reject(new Error(LOST)) } as ReturnType<typeof poolOf>["pool"];
  const [committing, twice] = [poolOf(3), poolOf(0, 2)];
  for (const pool of [committing.pool, twice.pool, none]) {
    const error = await change({ pool, stamps: null, lines: new Lines(1) }, null, work).catch(
      (thrown: unknown) => thrown,
    );
    expect(isOverloaded(error)).toBe(true);
    expect((lostWhileStarting(error, "postgres://h/d", "no word") as Error).message).toContain(LOST);
  }
  expect([committing.sent.length, twice.sent.length]).toEqual([1, 2]);
});

test("changes of one organization share a connection, others do not wait, and persons take turns", async () => {
  const begun: string[] = [];
  const opened = Promise.withResolvers<void>();
  const pool = {
    connect: async (): Promise<PoolClient> => {
      const query = async (asked: string | { text: string }): Promise<{ rows: unknown[] }> => {
        const name = typeof asked === "string" ? asked : asked.text;
        if (!name.startsWith("edit")) return { rows: [[1n]] };
        begun.push(name);
        await opened.promise;
        return { rows: [] };
      };
      return { query, release: () => {} } as unknown as PoolClient;
    },
  } as unknown as ReturnType<typeof poolOf>["pool"];
  const on = { pool, stamps: null, lines: new Lines(1) };
  const edit = (organizationId: string, by: string, nth: number): Promise<unknown> =>
    change(on, { organizationId, by }, () => ask(`edit ${organizationId} ${by} ${nth}`, []));
  const edits = [
    ...[1, 2, 3].map((nth) => edit("org_a", "flood", nth)),
    edit("org_a", "owner", 1),
    edit("org_b", "owner", 1),
  ];
  await Bun.sleep(20);
  expect(begun).toEqual(["edit org_a flood 1", "edit org_b owner 1"]);
  opened.resolve();
  await Promise.all(edits);
  expect(begun.slice(2)).toEqual(["edit org_a flood 2", "edit org_a owner 1", "edit org_a flood 3"]);
});
