// The end of a list of requests: how far back it was searched, links to the newest page and to the next page of older rows.
import { Alert, Button, Group } from "@mantine/core";
import { formatTime } from "../../format/time.ts";
import { activityTexts as words } from "./texts.ts";

interface OlderProps {
  /** The cursor of this page; empty: the newest. */
  before: string;
  of: { next_cursor: string | null; searched_to: string | null } | undefined;
  busy: boolean;
  set: (change: { before: string }) => void;
}

/** Renders nothing if all rows are on one page. */
export function Older({ before, of, busy, set }: OlderProps) {
  const older = of?.next_cursor ?? null;
  const searchedTo = of?.searched_to ?? null;
  if (before === "" && older === null) return null;
  return (
    <>
      {searchedTo !== null && (
        <Alert color="gray" variant="light" role="status">
          {words.searchedTo(formatTime(searchedTo))}
        </Alert>
      )}
      <Group justify="center">
        <Button variant="subtle" disabled={before === ""} onClick={() => set({ before: "" })}>
          {words.newest}
        </Button>
        <Button
          variant="subtle"
          disabled={older === null}
          loading={busy}
          onClick={() => set({ before: older ?? "" })}
        >
          {searchedTo === null ? words.olderRows : words.further}
        </Button>
      </Group>
    </>
  );
}
