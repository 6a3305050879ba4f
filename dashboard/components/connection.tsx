// The shell's notice while the gateway does not answer: the screen keeps its content, and everything is refetched
// once the gateway answers again.
import { Alert } from "@mantine/core";
import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect, useSyncExternalStore } from "react";
import { AGAIN_MS, awaySince, watchAnswers } from "../api/reachable.ts";
import { sessionQuery } from "../api/session.ts";
import { formatTime } from "../format/time.ts";
import { shellTexts } from "./texts.ts";
import { Icon } from "./icon.tsx";

/**
 * If one call of a page never gets an answer and the others do, the gateway seems to go away and return with each of
 * them.
 */
const ALL_AGAIN_MS = 15_000;
let allAskedAtMs = Number.NEGATIVE_INFINITY;

function askAllAgain(client: QueryClient): void {
  const nowMs = Date.now();
  if (allAskedAtMs > nowMs) return; // they are being refetched already
  const waitMs = Math.max(0, allAskedAtMs + ALL_AGAIN_MS - nowMs);
  allAskedAtMs = nowMs + waitMs;
  setTimeout(() => void client.invalidateQueries(), waitMs);
}

export function Connection() {
  const since = useSyncExternalStore(watchAnswers, awaySince);
  const client = useQueryClient();
  const isAway = since !== null;
  useEffect(() => {
    if (!isAway) return;
    const timer = setInterval(
      () => void client.refetchQueries({ queryKey: sessionQuery.queryKey }),
      AGAIN_MS,
    );
    return () => {
      clearInterval(timer);
      askAllAgain(client);
    };
  }, [isAway, client]);
  return (
    <div role="status">
      {since !== null && (
        <Alert role="note" color="yellow" mb="md" p="xs" icon={<Icon name="warning" />}>
          {shellTexts.away(formatTime(new Date(since).toISOString()))}
        </Alert>
      )}
    </div>
  );
}
