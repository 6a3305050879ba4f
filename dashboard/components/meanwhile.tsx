// What a form shows if someone else saved first. It shows the current row beside what was typed, and saving anyway
// changes that row, so that nothing is overwritten that was not on the screen.
import { Alert, List, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { ApiError } from "../api/client.ts";
import { meanwhileTexts as words } from "./texts.ts";
import type { Mutation } from "../api/change.ts";
import { Icon } from "./icon.tsx";

/** A field's label and its current value. */
export type Fact = readonly [label: string, value: ReactNode];

interface Versioned {
  version: string;
}

interface Tried<Row> {
  /** The version that the next attempt names. */
  on: Row;
  /** True if someone else saved first; `on` is the row they left. */
  late: boolean;
}

/** `of` is the row that the form was filled in from, `present` the row as the server has it now. */
export function sinceOpened<Row extends Versioned>(
  { error }: Mutation,
  of: Row,
  present: Row | undefined,
): Tried<Row> {
  const refused = error instanceof ApiError && error.code === "changed_meanwhile";
  return refused && present !== undefined ? { on: present, late: true } : { on: of, late: false };
}

export const Meanwhile = ({ facts, children }: { facts: readonly Fact[]; children?: ReactNode }) => (
  <Alert
    color="yellow"
    variant="light"
    icon={<Icon name="warning" />}
    title={words.title}
    styles={{ title: { color: "var(--mantine-color-text)" }, icon: { color: "var(--tone-warning)" } }}
    role="alert"
  >
    <Stack gap="xs" align="flex-start">
      <Text size="sm">{words.lead}</Text>
      <List size="sm">
        {facts.map(([label, value]) => (
          <List.Item key={label} className="name">
            {label}: {value}
          </List.Item>
        ))}
      </List>
      {children}
    </Stack>
  </Alert>
);
