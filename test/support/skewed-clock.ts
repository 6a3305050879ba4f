// Preloaded into a gateway (BUN_OPTIONS): its own clock is TEST_CLOCK_SKEW_MS ahead, or behind if negative.
const SKEW_MS = Number(process.env["TEST_CLOCK_SKEW_MS"]);
const Real = Date;

globalThis.Date = class extends Real {
  constructor(...given: [] | [number | string]) {
    super(...((given.length === 0 ? [Real.now() + SKEW_MS] : given) as [number]));
  }
  static override now(): number {
    return Real.now() + SKEW_MS;
  }
} as DateConstructor;
