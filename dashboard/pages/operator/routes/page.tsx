// Routes and their signed releases: state with its reason, freshness, prices, expiry; publish, disable, enable.
// Signing never happens in the browser: private keys stay with `./tollgate release sign`.
import { Button, Modal } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { read } from "../../../api/read.ts";
import type { Row } from "../../../api/routes.ts";
import { Choice } from "../../../components/choice.tsx";
import { DataTable } from "../../../components/data-table.tsx";
import { FilterRow } from "../../../components/filters.tsx";
import { Icon } from "../../../components/icon.tsx";
import { Page } from "../../../components/page.tsx";
import { ModelLimits } from "../../../components/rate-limits.tsx";
import { SearchField } from "../../../components/search-field.tsx";
import { Empty, Loaded } from "../../../components/states.tsx";
import { type Filters, oneOf, type SetFilters, text, useFilters } from "../../../filters.ts";
import { operatorPageNames } from "../../../components/texts.ts";
import { operatorRoutesTexts as words } from "./texts.ts";
import { FocusBack } from "../../../components/opener.ts";
import { DisableDialog, EnableDialog } from "./acts.tsx";
import { type Act, routeColumns } from "./columns.tsx";
import { Calendar } from "./expiry.tsx";
import { PublishDialog } from "./publish.tsx";
import { History, TrustedKeys } from "./releases.tsx";

const STATES = ["live", "disabled", "unhealthy", "stale"] as const;
const SHAPE = {
  search: text(),
  state: oneOf(["", ...STATES], ""),
  /** The route whose releases are shown. */
  history: text(),
};

export function RoutesPage() {
  const routes = useQuery({ ...read("GET /operator/routes", {}), refetchInterval: 5_000 });
  const [filters, setFilters] = useFilters(SHAPE);
  const { history } = filters;
  const [act, setAct] = useState<Act | null>(null);
  const close = (): void => setAct(null);
  const publish = (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setAct({ kind: "publish" })}>
      {words.publish}
    </Button>
  );
  return (
    <Page title={operatorPageNames.routes} lead={words.lead} actions={publish}>
      <Loaded query={routes}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty icon="routes" action={publish}>
              {words.empty}
            </Empty>
          ) : (
            <>
              <RouteFilters filters={filters} set={setFilters} />
              <DataTable
                label={operatorPageNames.routes}
                rows={data.filter(matching(filters))}
                rowKey={({ route }) => route}
                columns={routeColumns({ setAct, showHistory: (route) => setFilters({ history: route }) })}
              />
              <Calendar routes={data} />
            </>
          )
        }
      </Loaded>
      <TrustedKeys routes={routes.data?.data ?? []} />
      {history !== "" && <History route={history} onClose={() => setFilters({ history: "" })} />}
      {act?.kind === "publish" && <PublishDialog onClose={close} />}
      {act?.kind === "rates" && (
        <Modal opened onClose={close} title={words.ratesOf(act.model)} size="lg">
          <FocusBack />
          <ModelLimits model={act.model} />
        </Modal>
      )}
      {act?.kind === "disable" && <DisableDialog route={act.route} onClose={close} />}
      {act?.kind === "enable" && <EnableDialog route={act.route} onClose={close} />}
    </Page>
  );
}

const matching =
  ({ search, state }: Filters<typeof SHAPE>) =>
  (of: Row<"GET /operator/routes">): boolean =>
    (state === "" || of.state === state) &&
    `${of.route} ${of.tier} ${of.reason ?? ""}`.toLowerCase().includes(search.toLowerCase());

interface RouteFiltersProps {
  filters: Filters<typeof SHAPE>;
  set: SetFilters<typeof SHAPE>;
}

const RouteFilters = ({ filters, set }: RouteFiltersProps) => (
  <FilterRow>
    <SearchField
      label={words.search}
      value={filters.search}
      onSearch={(search) => set({ search }, { typed: true })}
    />
    <Choice
      label={words.state}
      value={filters.state}
      of={SHAPE.state}
      set={(state) => set({ state })}
      data={[{ value: "", label: words.allStates }, ...STATES.map((value) => ({ value, label: value }))]}
    />
  </FilterRow>
);
