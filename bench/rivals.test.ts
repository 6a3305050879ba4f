// What the page of rivals may claim: what its run measured, and nothing in the place of what it did not.
import { expect, test } from "bun:test";
import { figure } from "./figure.ts";
import { BUDGET_SECTION } from "./figures/budget.ts";
import { QUICK } from "./plan.ts";
import { printRivals } from "./rivals.ts";

const place = { section: "JSON 0.3 → 1 KB, 64 in flight", name: "CPU per 1,000 requests", unit: "s" };
const page = printRivals({
  date: "2026-11-22T10:00:00.000Z",
  plan: QUICK,
  command: "npm run bench -- --quick --rivals",
  machine: { cpu: "a processor", cores: 2, memory_gb: 4, kernel: "6.1", bun: "1.4.5", pinned: true },
  loads: [],
  skipped: [{ name: "nginx", reason: "nginx is not installed" }],
  figures: [
    figure({ ...place, peer: "bare-proxy" }, [0.03]),
    figure({ ...place, peer: "portkey" }, [1.2]),
    figure({ section: BUDGET_SECTION, name: "200 at once: answered", peer: "litellm", unit: "calls" }, [200]),
    figure(
      { ...place, section: "SSE 50 × 5 ms, 32 streams", name: "CPU per chunk", peer: "portkey", unit: "µs" },
      [80],
    ),
  ],
});

test("a figure stands under the peer that it was measured of; what was not measured is left empty", () => {
  expect(page).toContain("| JSON 0.3 → 1 KB, 64 in flight: CPU per 1,000 requests | 0.03 s | 1.2 s |");
  expect(page).toContain("| SSE 50 × 5 ms, 32 streams: CPU per chunk |  | 80 µs |");
});

test("the table of budgets has those that keep one, and no other", () => {
  expect(page).toContain(
    "| | litellm |\n|---|---|\n| A budget for seven calls: 200 at once: answered | 200 calls |",
  );
});

test("a row that nobody was measured for is not on the page", () => {
  expect(page).not.toContain("open loop: latency");
});

test("what could not be measured is named, the command and the versions with it", () => {
  expect(page).toContain("Not measured: nginx (nginx is not installed).");
  expect(page).toContain("`npm run bench -- --quick --rivals`");
  expect(page).toMatch(/Versions: portkey \d+\.\d+\.\d+/);
});
