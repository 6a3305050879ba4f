// The live tail: rows as they are added, and again when they change, newest first. The browser reconnects by itself,
// and each time the list is refetched, so that nothing between the two is missing. A hidden tab does not follow: a
// browser has six connections to a gateway, for all of its tabs together.
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState, useSyncExternalStore } from "react";
import { addressOf, type Row } from "../../api/routes.ts";

type ActivityRow = Row<"GET /orgs/{org}/activity">;

const ROWS_AT_MOST = 500;

interface Followed {
  on: boolean;
  key: string;
  model: string;
}

/** How long after a refusal the page tries again. */
const AGAIN_MS = 10_000;

interface Tail {
  rows: readonly ActivityRow[];
  /** The limit of following pages is reached; it continues by itself when there is a place. */
  crowded: boolean;
}

export function useTail(org: string, { on: wanted, key, model }: Followed): Tail {
  const [rows, setRows] = useState<readonly ActivityRow[]>([]);
  const [tries, setTries] = useState(0);
  const [crowded, setCrowded] = useState(false);
  const queries = useQueryClient();
  const on = useSyncExternalStore(watchVisibility, isVisible) && wanted;
  useEffect(() => {
    if (!on) return;
    const tail = new EventSource(addressOf("GET /orgs/{org}/activity/tail", { org }, { key, model }));
    let again: ReturnType<typeof setTimeout> | undefined;
    let over = false;
    tail.addEventListener("error", () => {
      if (tail.readyState !== EventSource.CLOSED) return; // otherwise the browser reconnects
      // The event source gives no reason: if the list is refused, too, the page shows that reason.
      void queries
        .refetchQueries({ queryKey: ["orgs", org, "activity"], type: "active" }, { throwOnError: true })
        .then(
          () => over || setCrowded(true),
          () => over || setCrowded(false),
        );
      again = setTimeout(() => setTries((tried) => tried + 1), AGAIN_MS);
    });
    tail.addEventListener("open", () => {
      setCrowded(false);
      let before: readonly ActivityRow[] = [];
      setRows((known) => (before = known));
      void queries
        .invalidateQueries({ queryKey: ["orgs", org, "activity"] })
        .then(() => setRows((known) => known.filter((row) => !before.includes(row))));
    });
    tail.addEventListener("row", ({ data }: MessageEvent<string>) => {
      const row = JSON.parse(data) as ActivityRow;
      setRows((known) => [row, ...known.filter(({ id }) => id !== row.id)].slice(0, ROWS_AT_MOST));
    });
    return () => {
      over = true;
      clearTimeout(again);
      tail.close();
      setRows([]);
    };
  }, [org, on, key, model, queries, tries]);
  return { rows, crowded: on && crowded };
}

const isVisible = (): boolean => document.visibilityState === "visible";

function watchVisibility(watcher: () => void): () => void {
  document.addEventListener("visibilitychange", watcher);
  return () => document.removeEventListener("visibilitychange", watcher);
}
