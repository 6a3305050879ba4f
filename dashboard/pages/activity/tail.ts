// The live tail: rows as they happen, and again when they change, newest first. The browser connects again by itself;
// whenever it does, the list is asked again, so that nothing is missing between the two.
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { withQuery } from "../../api/client.ts";
import { api } from "../../api/paths.ts";
import { type ActivityRow, activityOf } from "../../api/spend.ts";

const ROWS_AT_MOST = 500;

interface Followed {
  on: boolean;
  key: string;
  model: string;
}

export function useTail(org: string, { on, key, model }: Followed): readonly ActivityRow[] {
  const [rows, setRows] = useState<readonly ActivityRow[]>([]);
  const queries = useQueryClient();
  useEffect(() => {
    if (!on) return;
    const tail = new EventSource(withQuery(api.activityTail(org), { key, model }));
    tail.addEventListener("open", () => {
      let before: readonly ActivityRow[] = [];
      setRows((known) => (before = known));
      void queries
        .invalidateQueries({ queryKey: activityOf(org) })
        .then(() => setRows((known) => known.filter((row) => !before.includes(row))));
    });
    tail.addEventListener("row", ({ data }: MessageEvent<string>) => {
      const row = JSON.parse(data) as ActivityRow;
      setRows((known) => [row, ...known.filter(({ id }) => id !== row.id)].slice(0, ROWS_AT_MOST));
    });
    return () => {
      tail.close();
      setRows([]);
    };
  }, [org, on, key, model, queries]);
  return rows;
}
