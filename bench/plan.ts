// How long each figure is measured: `--quick` takes about 60 seconds, the full run as long as stable medians need.

export interface Plan {
  name: "quick" | "full";
  rounds: number;
  /** Load on each peer before the first round, then again before each sample. */
  firstWarmUpMs: number;
  warmUpMs: number;
  jsonMs: number;
  /** For each proxy of the table of parts. */
  partMs: number;
  streamMs: number;
  openMs: number;
  refusalMs: number;
  memoryRequests: number;
  stallMs: number;
  leavings: number;
  starts: number;
  burstHolds: number;
  /** Payload sizes, 1,000 streams, the long silence, and the bare proxy beside more figures; only in the full run. */
  extended: boolean;
}

export const QUICK: Plan = {
  name: "quick",
  rounds: 3,
  firstWarmUpMs: 1_000,
  warmUpMs: 200,
  jsonMs: 800,
  partMs: 150,
  streamMs: 1_500,
  openMs: 1_200,
  refusalMs: 600,
  memoryRequests: 30_000,
  stallMs: 3_000,
  leavings: 10,
  starts: 3,
  burstHolds: 50,
  extended: false,
};

export const FULL: Plan = {
  name: "full",
  rounds: 5,
  firstWarmUpMs: 5_000,
  warmUpMs: 1_000,
  jsonMs: 5_000,
  partMs: 500,
  streamMs: 6_000,
  openMs: 6_000,
  refusalMs: 3_000,
  memoryRequests: 100_000,
  stallMs: 20_000,
  leavings: 50,
  starts: 10,
  burstHolds: 200,
  extended: true,
};
