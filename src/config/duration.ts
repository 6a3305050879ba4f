// Durations as people write them: a whole number and one unit, `60s`, `24h`, `30d`. interfaces.md §3.

const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const DURATION = /^(\d{1,9})(ms|s|m|h|d)$/;

/** Reads a duration such as `24h` as milliseconds; null for everything else. */
export function parseDurationMs(text: string): number | null {
  const match = DURATION.exec(text);
  if (match === null) return null;
  return Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS];
}
