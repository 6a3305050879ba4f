// The end of a list of requests: links to the newest page and to the next page of older rows.
import { Button, Group } from "@mantine/core";
import { activityTexts as words } from "./texts.ts";

interface OlderProps {
  /** The cursors of this page and of the next; empty: the newest, null: there is none. */
  before: string;
  older: string | null;
  busy: boolean;
  set: (change: { before: string }) => void;
  further?: string;
}

/** Renders nothing if all rows are on one page. */
export const Older = ({ before, older, busy, set, further = words.olderRows }: OlderProps) =>
  (before !== "" || older !== null) && (
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
        {further}
      </Button>
    </Group>
  );
