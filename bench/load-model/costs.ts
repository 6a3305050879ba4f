// The model's default costs.
import type { Costs, Limits } from "./model.ts";

/**
 * Measured on 2026-11-23, PostgreSQL 18 and the ledger together on two busy cores (`npm run load-model --
 * --measure`); on a quieter machine a commit cost the database half as much. The commit time is that of a quiet
 * machine. The shell is the most expensive whole request on SQLite that a quiet machine showed at 64 in flight, its
 * ledger included (5.2 times a bare proxy of 50 µs).
 */
export const MEASURED: Costs = {
  database: { request: 58, commit: 805, touch: 359 },
  ledger: { request: 58, commit: 482, touch: 68 },
  log: { request: 1_680, commit: 61, touch: 1_450 },
  shell: 260,
  stored: 2_100,
  commitMs: 0.9,
  operationMs: 0.06,
  writers: 4,
};

/** The rounds from which those costs were fitted: per pair of admission and settlement. */
export const ROUNDS_MEASURED = [
  { commits: 4.75, touches: 2, databaseMicros: 4_080, ledgerMicros: 2_120, logBytes: 5_040 },
  { commits: 0.377, touches: 0.25, databaseMicros: 492, ledgerMicros: 301, logBytes: 1_790 },
  { commits: 0.0492, touches: 0.0313, databaseMicros: 113, ledgerMicros: 95.8, logBytes: 1_860 },
  { commits: 0.227, touches: 1.26, databaseMicros: 900, ledgerMicros: 294, logBytes: 3_550 },
  { commits: 0.225, touches: 1.9, databaseMicros: 1_220, ledgerMicros: 353, logBytes: 4_310 },
  { commits: 0.0125, touches: 0.00793, databaseMicros: 68.6, ledgerMicros: 58.5, logBytes: 1_820 },
  { commits: 0.0592, touches: 1.65, databaseMicros: 565, ledgerMicros: 172, logBytes: 4_300 },
] as const;

/** A server as sold today, and the lowest rate measured for one organization. */
export const ONE_DATABASE: Limits = {
  cores: 32,
  logBytes: 200e6,
  connections: 1_000,
  hottest: 4_000,
};
