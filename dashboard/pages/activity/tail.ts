// The live tail: rows as they happen, and again when they change, newest first. The browser connects again by itself.
import { useEffect, useState } from "react";
import { api } from "../../api/paths.ts";
import type { ActivityRow } from "../../api/spend.ts";

const ROWS_AT_MOST = 500;

export function useTail(org: string, on: boolean): readonly ActivityRow[] {
  const [rows, setRows] = useState<readonly ActivityRow[]>([]);
  useEffect(() => {
    if (!on) return;
    const tail = new EventSource(api.activityTail(org));
    tail.addEventListener("row", ({ data }: MessageEvent<string>) => {
      const row = JSON.parse(data) as ActivityRow;
      setRows((known) => [row, ...known.filter(({ id }) => id !== row.id)].slice(0, ROWS_AT_MOST));
    });
    return () => {
      tail.close();
      setRows([]);
    };
  }, [org, on]);
  return rows;
}
