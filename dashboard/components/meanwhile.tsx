// Somebody else was faster: what a form shows instead of a failure. The row as it is now stands beside what was typed, and
// saving anyway is a change of that row, so that nothing is overwritten that was not on the screen.
import { Alert, List, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { ApiError } from "../api/client.ts";
import { meanwhileTexts as words } from "./texts.ts";
import type { Mutation } from "../api/change.ts";
import { Icon } from "./icon.tsx";

/** What a field is called, and its present value. */
export type Fact = readonly [label: string, value: ReactNode];

interface Versioned {
  version: string;
}

interface Tried<Row> {
  /** Whose version the next try names. */
  on: Row;
  /** Somebody else was faster; `on` is what they made of it. */
  late: boolean;
}

/** `of` is the row as the form was filled in from it, `present` as the server shows it now. */
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
