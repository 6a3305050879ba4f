// Order statistics of small samples: median, quartiles, percentiles by linear interpolation.

/** `share` from 0 to 1. Null for an empty sample. */
export function percentile(values: readonly number[], share: number): number | null {
  if (values.length === 0) return null;
  const sorted = values.toSorted((a, b) => a - b);
  const position = share * (sorted.length - 1);
  const low = sorted[Math.floor(position)] ?? 0;
  const high = sorted[Math.ceil(position)] ?? low;
  return low + (high - low) * (position - Math.floor(position));
}

export interface Spread {
  median: number;
  q1: number;
  q3: number;
  samples: number[];
}

/** Null for an empty sample. */
export function spread(samples: readonly number[]): Spread | null {
  const [q1, median, q3] = [percentile(samples, 0.25), percentile(samples, 0.5), percentile(samples, 0.75)];
  return q1 === null || median === null || q3 === null ? null : { median, q1, q3, samples: [...samples] };
}

export const pairwise = (
  a: readonly number[],
  b: readonly number[],
  combine: (x: number, y: number) => number,
): number[] => a.slice(0, b.length).map((value, index) => combine(value, b[index] ?? Number.NaN));
