// Every request of the organization, refusals and replays included, newest first; a row opens the drawer beside it.
import { useState } from "react";
import type { Row } from "../../api/routes.ts";
import { useMembership } from "../../membership.tsx";
import { RequestDrawer } from "./drawer.tsx";
import { SHAPE } from "./filters.tsx";
import { ActivityList } from "./list.tsx";
import { useListFilters } from "./list-filters.ts";

type ActivityRow = Row<"GET /orgs/{org}/activity">;

export function ActivityPage() {
  const { org, session } = useMembership();
  const { req, listed, set } = useListFilters(SHAPE);
  const [rows, setRows] = useState<readonly ActivityRow[]>([]);
  return (
    <>
      <ActivityList org={org.id} person={session.person.id} filters={listed} set={set} onRows={setRows} />
      <RequestDrawer
        org={org.id}
        request={req}
        rows={rows}
        open={(id) => set({ req: id })}
        onClose={() => set({ req: "" })}
      />
    </>
  );
}
