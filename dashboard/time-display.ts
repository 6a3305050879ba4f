// Whether times are shown in UTC or in the reader's own zone. Kept in this browser, like the theme; days, months and
// limits stay UTC, because the ledger uses UTC.
import { useSyncExternalStore } from "react";

export const TIME_DISPLAYS = ["utc", "local"] as const;
type TimeDisplay = (typeof TIME_DISPLAYS)[number];

const NAME = "tollgate.times";
const readers = new Set<() => void>();
let chosen = stored();

export function chooseTimeDisplay(display: TimeDisplay): void {
  chosen = display;
  try {
    localStorage.setItem(NAME, display);
  } catch {
    // Storage is forbidden: the choice lasts until the page is left.
  }
  for (const read of readers) read();
}

function stored(): TimeDisplay {
  try {
    return TIME_DISPLAYS.find((display) => display === localStorage.getItem(NAME)) ?? "utc";
  } catch {
    return "utc";
  }
}

function subscribe(read: () => void): () => void {
  readers.add(read);
  return () => readers.delete(read);
}

export const useTimeDisplay = (): TimeDisplay => useSyncExternalStore(subscribe, () => chosen);
