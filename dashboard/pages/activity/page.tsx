// Every request of the organization, refusals and replays included, newest first; a row opens the drawer beside it.
import { useCallback, useMemo, useRef, useState } from "react";
import type { Row } from "../../api/routes.ts";
import { type SetFilters, useFilters } from "../../filters.ts";
import { useMembership } from "../../membership.tsx";
import { RequestDrawer } from "./drawer.tsx";
import { SHAPE } from "./filters.tsx";
import { ActivityList } from "./list.tsx";

type ActivityRow = Row<"GET /orgs/{org}/activity">;
type Set = SetFilters<typeof SHAPE>;

export function ActivityPage() {
  const { org, session } = useMembership();
  const [filters, setFilters] = useFilters(SHAPE);
  const [rows, setRows] = useState<readonly ActivityRow[]>([]);
  // What is under the drawer knows nothing of it, and is not drawn again when it opens.
  const { req, ...others } = filters;
  const printed = JSON.stringify(others);
  const listed = useMemo(() => JSON.parse(printed) as typeof others, [printed]);
  const latest = useRef(setFilters);
  latest.current = setFilters;
  const set = useCallback<Set>(
    // Whatever is chosen anew is seen from its newest row on.
    (change, how) => latest.current("req" in change ? change : { before: "", ...change }, how),
    [],
  );
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
