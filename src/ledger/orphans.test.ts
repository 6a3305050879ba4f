// Requests without an owner whose end changes nothing: silent if another gateway was quicker, reported if none was.
import { expect, test } from "bun:test";
import { resolveOrphans } from "./orphans.ts";
import type { Unowned } from "./recovery.ts";

const request = (requestId: string): Unowned => ({
  organizationId: "org_a",
  requestId,
  epoch: 1,
  admittedAtMs: 0,
  dispatched: false,
});

/** Runs once over a store that finds these and where no end changes anything. Returns what was quarantined, and why. */
async function recovered(found: Set<string>, meanwhile: (requestId: string) => void): Promise<string[]> {
  const told: string[] = [];
  await resolveOrphans({
    store: {
      find: async () => [...found].map(request),
      read: () => Promise.reject(new Error("was never sent: there is nothing to read")),
      submit: async (operation) => {
        if (operation.kind === "void") meanwhile(operation.voiding.requestId);
        return { kind: "lost" };
      },
      quarantine: async ({ requestId }, reason) => {
        found.delete(requestId);
        told.push(`${requestId}: ${reason}`);
      },
      isStoreFailure: () => false,
    },
    nowMs: () => 0,
    printInterrupted: () => null,
    alarm: () => {},
  });
  return told;
}

test("an orphan that another gateway has ended in the meantime is not reported", async () => {
  const found = new Set(["req_1", "req_2"]);
  expect(await recovered(found, (requestId) => found.delete(requestId))).toEqual([]);
});

test("an orphan that is still stored after it was ended is quarantined, once", async () => {
  const found = new Set(["req_1", "req_2"]);
  const told = await recovered(found, (requestId) => requestId === "req_1" && found.delete(requestId));
  expect(told).toEqual(["req_2: it was ended, but is still stored as running"]);
});
