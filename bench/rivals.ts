// `npm run bench -- --rivals`: writes the whole of docs/rivals.md from one run. It has the run's measurements with
// machine and versions, then, separately, older measurements from elsewhere with their conditions.
import { number } from "./report.ts";
import { BUDGET_SECTION } from "./figures/budget.ts";
import { BARE_PROXY, LEAN_SHELL, NULL_LEDGER, TOLLGATE } from "./peer.ts";
import { PEERS } from "./peers.ts";
import type { Figure } from "./figure.ts";
import type { Results } from "./report.ts";

export const RIVALS_PAGE = "docs/rivals.md";
/** The measures on the page; controls always take part. */
export const RIVALS_MEASURES: readonly string[] = [
  "warm-up",
  "JSON cost",
  "stream cost",
  "added latency",
  "client gone",
  "conservation",
  "budget",
];

/** The figures of the page's first table, by the beginning of their section's title and by name. */
const COMPARED: [section: string, name: string][] = [
  ["JSON 0.3 → 1 KB, 64 in flight", "CPU per 1,000 requests"],
  ["JSON 0.3 → 1 KB, 64 in flight", "ratio to bare proxy"],
  ["JSON 0.3 → 1 KB, 64 in flight", "database CPU per request"],
  ["JSON 0.3 → 1 KB, 8 in flight", "CPU per 1,000 requests"],
  ["JSON 0.3 → 1 KB, 8 in flight", "ratio to bare proxy"],
  ["SSE 50 × 5 ms, 32 streams", "CPU per chunk"],
  ["JSON at 500 requests/s, open loop", "latency p50, added"],
  ["JSON at 500 requests/s, open loop", "latency p99, added"],
  ["SSE at 40 streams/s, open loop", "first event p50, added"],
  ["A client that leaves a stream", "until the upstream is closed"],
];

const ELSEWHERE = `## Measured elsewhere

On 2026-11-22, on two quiet cores: the gateway on one, a mock provider and the load on the other; medians of five interleaved rounds
of that run. None of these figures may be held against those above, which another run took. An empty cell was not measured.

| | meters | CPU ms per 1,000 JSON requests, 64 in flight | the same, 8 in flight | CPU µs per chunk, 32 streams at 5 ms | added p99 at 500/s |
|---|---|---|---|---|---|
| nginx | no | 17 | | | |
| bare Bun proxy | no | 28 | 34 | 12.5 | |
| TensorZero (Rust), its database off | no | 82 | 82 | 33 | 1.2 ms |
| Ferro (Go), unmetered | no | 152 | | 36 | 1.7 ms |
| Tollgate, SQLite | before the call | 163 | 288 | 34 | 7.9 ms |
| Tollgate, PostgreSQL | before the call | 236, database 101 | 582, database 402 | | 24 ms |
| Portkey | no | 1,143 | | 80 | |
| one-api | yes | 1,667, database 3,640 | | | |
| Ferro, metered | yes | 1,913 | | | |
| LiteLLM | yes | 6,883 | | | |

A budget for seven calls and 200 of them at once: Tollgate served five and never went over; the others served 41 to 200.
`;

/** The page of one run. */
export function printRivals(results: Results): string {
  const { machine, plan, date, figures, skipped, command } = results;
  const peers = [...new Set(figures.map(({ peer }) => peer))].filter((peer) => peer !== "direct");
  const versions = PEERS.flatMap(({ name, version }) =>
    version !== undefined && peers.includes(name) ? [`${name} ${version()}`] : [],
  );
  return `# Beside others

Written by \`${command}\`; every figure before the last table is of that run.

- ${date.slice(0, 10)}, ${machine["cpu"]}, ${machine["cores"]} cores, ${machine["memory_gb"]} GB, Linux ${machine["kernel"]}, Bun ${machine["bun"]}; load before: ${machine["load_average_before"]}.
- Plan "${plan.name}": medians of ${plan.rounds} interleaved rounds; ${machine["pinned"] === true ? "the gateway alone on one core, upstream, load and database on the other" : "not pinned to cores"}. How each is taken: [performance.md §4](design/performance.md).
- Tollgate holds credits durably before each call and settles durably before the last byte; ${BARE_PROXY} is \`Bun.serve\` and \`fetch\` without logic, ${LEAN_SHELL}
  the least program that reads, checks the form of and prints what a gateway does, ${NULL_LEDGER} Tollgate with a ledger that says yes at once.
- A wait of many milliseconds at a fixed rate is a queue: that peer serves fewer on one core than came.
- Versions: ${[...versions, "Tollgate of this tree"].join(", ")}.

${table(figures, peers, COMPARED)}

## Money

${budgets(figures)}

${money(figures)}
${skipped.length === 0 ? "" : `\nNot measured: ${skipped.map(({ name, reason }) => `${name} (${reason})`).join("; ")}.\n`}
${ELSEWHERE}`;
}

/** A row for each compared figure that has any measurement. */
function table(
  figures: readonly Figure[],
  peers: readonly string[],
  compared: readonly (readonly [section: string, name: string])[],
): string {
  const rows = compared.flatMap(([section, name]) => {
    const found = figures.filter((figure) => figure.section === section && figure.name === name);
    const cellOf = (peer: string): string => {
      const own = found.find((figure) => figure.peer === peer);
      return own === undefined ? "" : `${number(own.spread.median)} ${own.unit}`;
    };
    return found.length === 0 ? [] : [`| ${section}: ${name} | ${peers.map(cellOf).join(" | ")} |`];
  });
  return [`| | ${peers.join(" | ")} |`, `|---|${peers.map(() => "---|").join("")}`, ...rows].join("\n");
}

/** The peers that keep a budget; the others serve any caller that has a key of the provider, or none. */
function budgets(figures: readonly Figure[]): string {
  const own = figures.filter(({ section }) => section === BUDGET_SECTION);
  const peers = [...new Set(own.map(({ peer }) => peer))];
  const names = [...new Set(own.map(({ name }) => name))];
  return [
    "A caller may spend what seven calls cost. All calls are alike, name the output that comes as their maximum and take 1.5 s at the",
    "provider; what they cost is told by the provider when they end. Who holds the worst case before a call serves one or two less than",
    "seven, as a prompt's bound is above what the provider counts; who looks at a sum and adds to it later serves whoever asks meanwhile. LiteLLM keeps this",
    "budget (`provider_budget_config`) in its process; its keys' budgets need a database, whose engine pip does not bring, and",
    "were not measured. nginx, Portkey's open gateway and the proxies keep no budget.",
    "",
    table(
      own,
      peers,
      names.map((name) => [BUDGET_SECTION, name] as const),
    ),
  ].join("\n");
}

/** Differences that must be zero; no other peer here has a balance to query. */
function money(figures: readonly Figure[]): string {
  const rows = figures
    .filter(({ section }) => section === "Conservation")
    .map(({ name, spread, unit }) => `| ${name} | ${`${number(spread.median)} ${unit}`.trim()} |`);
  return [
    `${TOLLGATE} on SQLite; the tests of the ledger put PostgreSQL to the same, and [the torture run](torture.md) both to \`kill -9\`.`,
    "Each of these has to be zero.",
    "",
    "| | |",
    "|---|---|",
    ...rows,
  ].join("\n");
}
