// The open invitations, of an organization or of operators.
import { Text } from "@mantine/core";
import { type Column, DataTable } from "./data-table.tsx";

interface OpenInvitationsProps<Invitation> {
  label: string;
  /** The text if no invitation is open. */
  none: string;
  invitations: Invitation[];
  columns: Column<Invitation>[];
}

export function OpenInvitationsTable<Invitation extends { id: string; state: string }>({
  label,
  none,
  invitations,
  columns,
}: OpenInvitationsProps<Invitation>) {
  const open = invitations.filter(({ state }) => state === "open");
  if (open.length > 0)
    return <DataTable label={label} rows={open} rowKey={({ id }) => id} columns={columns} />;
  return (
    <Text size="sm" c="dimmed">
      {none}
    </Text>
  );
}
