// What one key spent on one model within one bucket, as usage is summed from it and grouped by.
import type { z } from "zod";
import type * as spendShapes from "../api/shapes/spend.ts";

export type Group = NonNullable<z.output<typeof spendShapes.usage>["group_by"]>;

export interface Sums {
  requests: number;
  input: bigint;
  cached: bigint;
  /** To a cache. */
  written: bigint;
  output: bigint;
  charge: bigint;
}

/** What one key spent on one model within one bucket. */
export interface UsageCell extends Sums {
  key: string;
  model: string;
  /** Of the release that served; only where it was asked for. */
  digest: string | null;
  bucket: number;
}
