// The page of rivals contains only what its run measured, and leaves the rest empty.
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

test("a figure is in the column of its peer; what was not measured is left empty", () => {
  expect(page).toContain("| JSON 0.3 → 1 KB, 64 in flight: CPU per 1,000 requests | 0.03 s | 1.2 s |");
  expect(page).toContain("| SSE 50 × 5 ms, 32 streams: CPU per chunk |  | 80 µs |");
});

test("the table of budgets has only the peers that keep one", () => {
  expect(page).toContain(
    "| | litellm |\n|---|---|\n| A budget for seven calls: 200 at once: answered | 200 calls |",
  );
});

test("a row without any measurement is not on the page", () => {
  expect(page).not.toContain("open loop: latency");
});

test("the page names what could not be measured, the command and the versions", () => {
  expect(page).toContain("Not measured: nginx (nginx is not installed).");
  expect(page).toContain("`npm run bench -- --quick --rivals`");
  expect(page).toMatch(/Versions: portkey \d+\.\d+\.\d+/);
});
