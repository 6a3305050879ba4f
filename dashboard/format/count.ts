// Whole numbers and shares as people read them; the same everywhere, whatever the browser's language.

/** `12,345`. */
export const formatCount = (count: number): string => count.toLocaleString("en-US");

/** `1.2M`, `34k`: for axes and tiles, where the exact figure is beside or on hover. */
export const shortCount = (count: number): string =>
  count.toLocaleString("en-US", { notation: "compact", maximumFractionDigits: 1 });

/** `part` of `whole` as `1.5 %`; `–` where there is nothing to divide. */
export const formatShare = (part: number, whole: number): string =>
  whole === 0 ? "–" : `${((part / whole) * 100).toFixed(part === 0 ? 0 : 1)} %`;
