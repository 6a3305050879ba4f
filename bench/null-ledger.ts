// The gateway's shell alone: the product as it is composed, but with a ledger that answers the money path at once,
// without deciding or writing anything. Its cost is that of everything around the ledger (performance.md §5). For the
// benchmark only: no command of the product reaches it. `bench/null-ledger.ts serve --config FILE`.
import { parseArgs } from "node:util";
import { loadConfig } from "../src/config/config.ts";
import { nanoUsd } from "../src/domain/money.ts";
import type { AdmissionDecision, AdmissionRequest, Ledger, ResolveOutcome } from "../src/ledger/ledger.ts";
import { start } from "../src/main/gateway.ts";
import { openStore } from "../src/main/store.ts";

const PLENTY = nanoUsd(1_000_000_000_000_000n);
const DONE: ResolveOutcome = { kind: "done", balance: PLENTY };

function admitted(admission: AdmissionRequest): AdmissionDecision {
  const { asked } = admission;
  if (asked.kind === "refusal") return { kind: "refused", refusal: asked.refusal, authenticated: true };
  return {
    kind: "admitted",
    admittedAtMs: Date.now(),
    openRoutes: asked.plan.routes.map(({ route }) => route),
    researchMode: false,
    headroom: { available: PLENTY, keyLimitRemaining: null },
    rates: [],
  };
}

/** Organizations, keys and releases are those of `real`; only calls are free. */
const nullLedger = (real: Ledger): Ledger => ({
  ...real,
  checkKey: () => ({ scope: "standard" as const, maxOutputTokens: null }),
  admit: async (admission) => admitted(admission),
  settle: async () => DONE,
  void: async () => DONE,
  checkpoint: async () => ({ kind: "kept" }),
});

const { values } = parseArgs({ options: { config: { type: "string" } }, allowPositionals: true });
const config = loadConfig({ env: process.env, cwd: process.cwd(), flags: { config: values.config } });
const running = await start(config, {
  openStore: async (...asked) => {
    const store = await openStore(...asked);
    return { ...store, ledger: nullLedger(store.ledger) };
  },
});
process.on("SIGTERM", () => void running.stop().finally(() => process.exit(0)));
