// Requests for Research Mode and their outcomes. Nobody approves their own request; an approval never opens a route
// that is not live.
import { Stack, Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { moreOf, readPages } from "../../../api/read.ts";
import type { Row } from "../../../api/routes.ts";
import { Choice } from "../../../components/choice.tsx";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { Ago, Money } from "../../../components/figures.tsx";
import { OrganizationFilter } from "../../../components/organization-select.tsx";
import { FilterRow } from "../../../components/filters.tsx";
import { Page } from "../../../components/page.tsx";
import { RowActs } from "../../../components/row-acts.tsx";
import { SearchField } from "../../../components/search-field.tsx";
import { StateBadge } from "../../../components/state-badge.tsx";
import { Empty, Loaded } from "../../../components/states.tsx";
import { oneOf, text, useFilters } from "../../../filters.ts";
import { operatorEntitlementsTexts as words } from "./texts.ts";
import { operatorPageNames } from "../../../components/texts.ts";
import { ApproveDialog, DeclineDialog, RevokeDialog } from "./acts.tsx";
import { OrganizationName } from "../../../components/organization-name.tsx";

type EntitlementRow = Row<"GET /operator/entitlements">;

const STATES = ["requested", "active", "expired", "revoked", "declined", "withdrawn"] as const;
const SHAPE = { search: text(), org: text(), state: oneOf(["", ...STATES], "") };
type Act = { kind: "approve" | "decline" | "revoke"; of: EntitlementRow };

export function EntitlementsPage() {
  const [filters, setFilters] = useFilters(SHAPE);
  const entitlements = useInfiniteQuery(readPages("GET /operator/entitlements", {}, filters));
  const [act, setAct] = useState<Act | null>(null);
  const close = (): void => setAct(null);
  return (
    <Page title={operatorPageNames.entitlements} lead={words.lead}>
      <FilterRow>
        <SearchField
          label={words.search}
          value={filters.search}
          onSearch={(search) => setFilters({ search }, { typed: true })}
        />
        <OrganizationFilter value={filters.org} set={(org) => setFilters({ org })} />
        <Choice
          label={words.state}
          value={filters.state}
          of={SHAPE.state}
          set={(state) => setFilters({ state })}
          data={[{ value: "", label: words.all }, ...STATES.map((value) => ({ value, label: value }))]}
        />
      </FilterRow>
      <Loaded query={entitlements}>
        {(rows) =>
          rows.length === 0 &&
          !entitlements.isPlaceholderData &&
          filters.org === "" &&
          filters.search === "" &&
          (filters.state === "" || filters.state === "requested") ? (
            <Empty icon="entitlements">{filters.state === "" ? words.empty : words.nobodyWaits}</Empty>
          ) : (
            <DataTable
              label={operatorPageNames.entitlements}
              rows={rows}
              rowKey={({ id }) => id}
              columns={columns(setAct)}
              more={moreOf(entitlements)}
            />
          )
        }
      </Loaded>
      {act?.kind === "approve" && <ApproveDialog of={act.of} onClose={close} />}
      {act?.kind === "decline" && <DeclineDialog of={act.of} onClose={close} />}
      {act?.kind === "revoke" && <RevokeDialog of={act.of} onClose={close} />}
    </Page>
  );
}

/** The requester may have left it open. */
const Until = ({ at }: { at: string | null }) =>
  at !== null && (
    <>
      , {words.until} <Ago at={at} />
    </>
  );

const columns = (setAct: (act: Act) => void): Column<EntitlementRow>[] => [
  {
    title: words.columns.who,
    always: true,
    cell: ({ org, org_name, project, asked_by, model, purpose, spend_usd, expires_at, wanted_until }) => (
      <Stack gap={0}>
        <Text size="sm" fw={600} className="name clamped">
          <OrganizationName id={org} name={org_name} />
        </Text>
        <Text size="xs" c="dimmed" className="name">
          {project} · {asked_by?.name ?? "–"}
        </Text>
        <Text size="xs" c="dimmed" className="name" hiddenFrom="sm">
          {model}: {purpose ?? "–"}
        </Text>
        <Text size="xs" c="dimmed" hiddenFrom="sm">
          <Money usd={spend_usd} /> {words.spent}
          <Until at={expires_at ?? wanted_until} />
        </Text>
      </Stack>
    ),
  },
  {
    title: words.columns.model,
    saidFirst: true,
    cell: ({ model, purpose }) => (
      <Stack gap={0}>
        <span className="name">{model}</span>
        <Text size="xs" c="dimmed" className="name">
          {purpose ?? ""}
        </Text>
      </Stack>
    ),
  },
  { title: words.columns.state, always: true, cell: ({ state }) => <StateBadge state={state} /> },
  {
    title: words.columns.spend,
    figures: true,
    saidFirst: true,
    cell: ({ spend_usd }) => <Money usd={spend_usd} />,
  },
  {
    title: words.columns.until,
    saidFirst: true,
    cell: ({ expires_at, wanted_until }) => <Ago at={expires_at ?? wanted_until} never="–" />,
  },
  { title: words.columns.asked, wider: true, cell: ({ created_at }) => <Ago at={created_at} /> },
  { title: words.columns.actions, always: true, acts: true, cell: (of) => <Acts of={of} setAct={setAct} /> },
];

function Acts({ of, setAct }: { of: EntitlementRow; setAct: (act: Act) => void }) {
  const acts = (...kinds: Act["kind"][]) => (
    <RowActs
      label={words.menu(of.project)}
      acts={kinds.map((kind) => ({ label: words[kind], act: () => setAct({ kind, of }) }))}
    />
  );
  if (of.state === "active") return acts("revoke");
  if (of.state !== "requested") return null;
  if (!of.decidable)
    return (
      <Text size="xs" c="dimmed">
        {words.notYours}
      </Text>
    );
  return acts("approve", "decline");
}
