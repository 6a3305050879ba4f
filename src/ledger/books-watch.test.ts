// An organization is stopped only if two looks at the books find them broken.
import { expect, test } from "bun:test";
import { Jobs } from "../lib/jobs.ts";
import { BooksWatch } from "./books-watch.ts";
import type { Transactions } from "./ledger.ts";
import type { BooksReport } from "./verify/books.ts";

const broken = (organizationId: string): BooksReport["violations"][number] => ({
  invariant: "I12 paid in - spent = available + held - debt",
  organizationId,
  requestId: null,
  expected: "5",
  found: "6",
});

/** Checks the books once, where each look finds those of the named organizations broken: whom it stops, and how many looks it took. */
async function checked(...looks: string[][]): Promise<{ stopped: string[]; looked: number }> {
  const stopped: string[] = [];
  let looked = 0;
  const on = {
    read: async () => [],
    change: async ({ organizationId }: { organizationId: string }) => void stopped.push(organizationId),
  } as unknown as Transactions;
  const watch = new BooksWatch({
    on,
    look: async () => ({ violations: (looks[looked++] ?? []).map(broken), bases: new Map() }),
    leads: async () => true,
    ready: () => true,
    pulse: { foundStopped: () => {} },
    jobs: new Jobs({ tell: () => {} }),
  });
  await watch.asked().checkBooks([]);
  return { stopped, looked };
}

test("damage that the second look does not find stops nobody", async () => {
  expect(await checked(["org_a"], [])).toEqual({ stopped: [], looked: 2 });
  expect(await checked(["org_a"], ["org_b"])).toEqual({ stopped: [], looked: 2 });
});

test("damage that both looks find stops its organization, and no other", async () => {
  expect(await checked(["org_a", "org_b"], ["org_b"])).toEqual({ stopped: ["org_b"], looked: 2 });
});

test("books that hold are looked at once", async () => {
  expect(await checked([])).toEqual({ stopped: [], looked: 1 });
});
