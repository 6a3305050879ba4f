// The open invitations, of an organization or of operators.
import { Text } from "@mantine/core";
import { type Column, DataTable } from "./data-table.tsx";

type More = Parameters<typeof DataTable>[0]["more"];

interface OpenInvitationsProps<Invitation> {
  label: string;
  /** The text if no invitation is open. */
  none: string;
  invitations: Invitation[];
  columns: Column<Invitation>[];
  more: More;
}

export function OpenInvitationsTable<Invitation extends { id: string }>({
  label,
  none,
  invitations,
  columns,
  more,
}: OpenInvitationsProps<Invitation>) {
  if (invitations.length > 0)
    return (
      <DataTable label={label} rows={invitations} rowKey={({ id }) => id} columns={columns} more={more} />
    );
  return (
    <Text size="sm" c="dimmed">
      {none}
    </Text>
  );
}
