// One figure of an overview; with a target it is a link to the page behind the figure.
import { Paper, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { BareLink } from "./link.tsx";

interface TileProps {
  title: string;
  children: ReactNode;
  note?: ReactNode;
  to?: string;
  search?: Record<string, string>;
}

export function Tile({ title, children, note, to, search }: TileProps) {
  const body = (
    <>
      <Text size="sm" c="dimmed" component="div">
        {title}
      </Text>
      <Text fw={650} lh={1.3} component="div" className="figures figure">
        {children}
      </Text>
      {note !== undefined && (
        <Text size="xs" c="dimmed" component="div">
          {note}
        </Text>
      )}
    </>
  );
  if (to === undefined)
    return (
      <Paper withBorder p={{ base: "sm", sm: "md" }} className="tile">
        {body}
      </Paper>
    );
  return (
    <Paper
      withBorder
      p={{ base: "sm", sm: "md" }}
      className="tile"
      renderRoot={(props) => <BareLink to={to} search={search ?? {}} {...props} />}
    >
      {body}
    </Paper>
  );
}
