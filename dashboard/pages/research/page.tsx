// Research Mode: which models this organization may use for which project, until when, and what they have cost so far
// (specification 4).
import { Alert, Button } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { moreOf, readPages } from "../../api/read.ts";
import type { Row } from "../../api/routes.ts";
import { Choice } from "../../components/choice.tsx";
import { DataTable } from "../../components/data-table.tsx";
import { Icon } from "../../components/icon.tsx";
import { FilterRow } from "../../components/filters.tsx";
import { Page } from "../../components/page.tsx";
import { SearchField } from "../../components/search-field.tsx";
import { Empty, Loaded } from "../../components/states.tsx";
import { type Filters, oneOf, type SetFilters, text, useFilters } from "../../filters.ts";
import { useMembership } from "../../membership.tsx";
import { pageNames } from "../../components/texts.ts";
import { researchTexts as words } from "./texts.ts";
import { entitlementColumns } from "./columns.tsx";
import { AskDialog, WithdrawDialog } from "./dialogs.tsx";

type Entitlement = Row<"GET /orgs/{org}/research">;

const STATES = ["requested", "active", "expired", "revoked", "declined", "withdrawn"] as const;
const SHAPE = {
  search: text(),
  state: oneOf(["all", ...STATES], "all"),
  /** A link from elsewhere opens the form with this model. */
  ask: text(),
};

type Act = { kind: "ask" } | { kind: "withdraw"; entitlement: Entitlement };

export function ResearchPage() {
  const { org, may } = useMembership();
  const [filters, setFilters] = useFilters(SHAPE);
  const { search, state } = filters;
  const entitlements = useInfiniteQuery({
    ...readPages("GET /orgs/{org}/research", { org: org.id }, { search, ...(state !== "all" && { state }) }),
    refetchInterval: 5_000, // it shows whether the routes are live now
  });
  const [act, setAct] = useState<Act | null>(() =>
    filters.ask === "" || !may("research.ask") ? null : { kind: "ask" },
  );
  const close = (): void => {
    setAct(null);
    if (filters.ask !== "") setFilters({ ask: "" });
  };
  const ask = may("research.ask") ? (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setAct({ kind: "ask" })}>
      {words.ask}
    </Button>
  ) : undefined;
  return (
    <Page title={pageNames.research} lead={words.lead} actions={ask}>
      <Alert color="indigo" variant="light" icon={<Icon name="routes" />}>
        {words.never}
      </Alert>
      <Loaded query={entitlements}>
        {(rows) =>
          rows.length === 0 && search === "" && state === "all" && !entitlements.isPlaceholderData ? (
            <Empty icon="research" action={ask}>
              {words.empty}
            </Empty>
          ) : (
            <>
              <EntitlementFilters filters={filters} set={setFilters} />
              <DataTable
                label={pageNames.research}
                rows={rows}
                rowKey={({ id }) => id}
                columns={entitlementColumns({
                  org: org.id,
                  mayAsk: may("research.ask"),
                  mayMakeKeys: may("keys.create"),
                  onWithdraw: (entitlement) => setAct({ kind: "withdraw", entitlement }),
                })}
                more={moreOf(entitlements)}
              />
            </>
          )
        }
      </Loaded>
      {act?.kind === "ask" && <AskDialog org={org.id} wanted={filters.ask} onClose={close} />}
      {act?.kind === "withdraw" && <WithdrawDialog org={org.id} of={act.entitlement} onClose={close} />}
    </Page>
  );
}

interface FilterProps {
  filters: Filters<typeof SHAPE>;
  set: SetFilters<typeof SHAPE>;
}

const EntitlementFilters = ({ filters, set }: FilterProps) => (
  <FilterRow>
    <SearchField
      label={words.search}
      value={filters.search}
      onSearch={(search) => set({ search }, { typed: true })}
    />
    <Choice
      label={words.columns.state}
      value={filters.state}
      of={SHAPE.state}
      set={(state) => set({ state })}
      data={[{ value: "all", label: words.all }, ...STATES]}
    />
  </FilterRow>
);
