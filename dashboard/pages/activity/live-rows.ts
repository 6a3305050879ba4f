// Merges the live tail into the list: changed rows are updated, new ones are added on top unless the reader has
// scrolled down.
import { useEffect, useMemo, useState } from "react";
import type { Row } from "../../api/routes.ts";

type ActivityRow = Row<"GET /orgs/{org}/activity">;

interface Matching {
  state: string;
  surface: string;
  code: string;
  /** False if the list is of a search or of a past time: then rows are only updated. */
  grows: boolean;
}

interface LiveRows {
  rows: ActivityRow[];
  /** The number of new rows held back. */
  waiting: number;
}

export function useLiveRows(
  fresh: readonly ActivityRow[],
  listed: readonly ActivityRow[],
  { state, surface, code, grows }: Matching,
): LiveRows {
  const down = useScrolledDown();
  const [held, setHeld] = useState<ReadonlySet<string> | null>(null);
  useEffect(() => {
    setHeld(down ? new Set(fresh.map(({ id }) => id)) : null);
    // Only the moment of leaving the top counts: what was on the screen then stays.
  }, [down]);
  return useMemo(() => {
    const matches = (row: ActivityRow): boolean =>
      (state === "" || row.state === state) &&
      (surface === "" || row.surface === surface) &&
      (code === "" || row.code === code);
    const known = new Map(fresh.map((row) => [row.id, row]));
    const ids = new Set(listed.map(({ id }) => id));
    const changed = listed.map((row) => known.get(row.id) ?? row).filter(matches);
    const added = grows ? fresh.filter((row) => !ids.has(row.id) && matches(row)) : [];
    const shown = held === null ? added : added.filter(({ id }) => held.has(id));
    return { rows: newestFirst([...shown, ...changed]), waiting: added.length - shown.length };
  }, [fresh, listed, held, state, surface, code, grows]);
}

/** Ids begin with the time, so a row that changed late keeps its place. */
const newestFirst = (rows: ActivityRow[]): ActivityRow[] => rows.toSorted((a, b) => (a.id < b.id ? 1 : -1));

const A_LITTLE = 40;

/** True if the page, or a table that scrolls by itself, is scrolled down. */
function useScrolledDown(): boolean {
  const [down, setDown] = useState(false);
  useEffect(() => {
    const look = (): void => {
      const boxes = [...document.querySelectorAll(".table-scroll")];
      setDown(window.scrollY > A_LITTLE || boxes.some(({ scrollTop }) => scrollTop > A_LITTLE));
    };
    document.addEventListener("scroll", look, { capture: true, passive: true });
    return () => document.removeEventListener("scroll", look, { capture: true });
  }, []);
  return down;
}

export function scrollToTop(): void {
  for (const box of document.querySelectorAll(".table-scroll")) box.scrollTop = 0;
  window.scrollTo({ top: 0 });
}
