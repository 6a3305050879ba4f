// The used part of a limit, as a bar with its figures beside it: the bar never carries the information alone.
import { Progress } from "@mantine/core";

export const Meter = ({ percent, label }: { percent: number; label: string }) => (
  <Progress.Root size="sm" my={4} miw={80}>
    <Progress.Section
      value={percent}
      color={percent >= 100 ? "red" : percent >= 75 ? "yellow" : "indigo"}
      aria-label={label}
    />
  </Progress.Root>
);
