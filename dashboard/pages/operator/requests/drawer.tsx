// Activity's drawer over requests of several organizations: the row, or a search by id, gives the organization of the
// open one.
import { Alert } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { read } from "../../../api/read.ts";
import type { Row } from "../../../api/routes.ts";
import { sessionQuery } from "../../../api/session.ts";
import { MembershipContext, membershipOf } from "../../../membership.tsx";
import { RequestDrawer } from "../../activity/drawer.tsx";
import { operatorRequestsTexts as words } from "./texts.ts";

interface OperatorDrawerProps {
  /** Empty: closed. */
  request: string;
  rows: readonly Row<"GET /operator/requests">[];
  open: (id: string) => void;
  onClose: () => void;
}

export function OperatorDrawer({ request, rows, open, onClose }: OperatorDrawerProps) {
  const { data: session } = useQuery(sessionQuery);
  const row = rows.find(({ id }) => id === request);
  const found = useQuery({
    ...read("GET /operator/requests", {}, { find: request }),
    enabled: request !== "" && row === undefined,
  });
  const org = row?.org ?? found.data?.data.find(({ id }) => id === request)?.org;
  const own = session?.organizations.find(({ id }) => id === org?.id);
  const membership =
    session && org ? membershipOf(session, { role: null, ...(own ?? org), operates: true }) : null;
  const isNone = request !== "" && org === undefined && (found.isSuccess || found.isError);
  return (
    <>
      {isNone && (
        <Alert color="yellow" variant="light" role="status" withCloseButton onClose={onClose}>
          {words.noSuch}
        </Alert>
      )}
      <MembershipContext value={membership}>
        <RequestDrawer
          org={org?.id ?? ""}
          request={membership === null ? "" : request}
          rows={rows}
          open={open}
          onClose={onClose}
        />
      </MembershipContext>
    </>
  );
}
