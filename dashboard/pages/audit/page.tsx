// Who changed what in this organization; rows are only ever added.
import { Select } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { ORGANIZATION_ACTIONS } from "../../../src/domain/audit-actions.ts";
import { memberQuery } from "../../api/member.ts";
import { moreOf, read, readPages } from "../../api/read.ts";
import { addressOf } from "../../api/routes.ts";
import type { AuditRow } from "./columns.tsx";
import { AuditTable } from "./table.tsx";
import { FileLink } from "../../components/link.tsx";
import { FITTING } from "../../components/choice.tsx";
import { chipOf, FilterRow } from "../../components/filters.tsx";
import { Page } from "../../components/page.tsx";
import { SearchSelect, useTyped, withChosen } from "../../components/search-select.tsx";
import { SearchField } from "../../components/search-field.tsx";
import { Loaded, Loading } from "../../components/states.tsx";
import { askedWindow, TimeWindow, windowShape } from "../../components/time-window.tsx";
import { type SetFilters, text, useFilters } from "../../filters.ts";
import { useMembership } from "../../membership.tsx";
import { auditTexts as words } from "./texts.ts";
import { pageNames } from "../../components/texts.ts";

const ALL = { value: "", label: words.all };
const SHAPE = { ...windowShape(""), actor: text(), action: text(), target: text() };

export function AuditPage() {
  const { org } = useMembership();
  const [filters, setFilters] = useFilters(SHAPE);
  const { actor, action, target } = filters;
  const asked = { actor, action, target, ...askedWindow(filters) };
  const log = useInfiniteQuery(readPages("GET /orgs/{org}/audit", { org: org.id }, asked));
  return (
    <Page
      title={pageNames.audit}
      lead={words.lead}
      actions={
        <FileLink to={addressOf("GET /orgs/{org}/audit.csv", { org: org.id }, asked)}>{words.csv}</FileLink>
      }
    >
      <FilterRow>
        <SearchField
          label={words.filters.target}
          value={filters.target}
          onSearch={(target) => setFilters({ target }, { typed: true })}
        />
        <TimeWindow filters={filters} set={setFilters} all />
        <Who org={org.id} actor={filters.actor} rows={log.data ?? []} set={setFilters} />
        <Select
          label={words.filters.action}
          searchable
          allowDeselect={false}
          value={filters.action}
          onChange={(action) => setFilters({ action: action ?? "" })}
          data={[ALL, ...ORGANIZATION_ACTIONS]}
          comboboxProps={FITTING}
          {...chipOf(filters.action !== "")}
        />
      </FilterRow>
      <Loaded query={log} loading={<Loading lines={8} />}>
        {(rows) => <AuditTable label={pageNames.audit} org={org.id} rows={rows} more={moreOf(log)} />}
      </Loaded>
    </Page>
  );
}

interface WhoProps {
  org: string;
  actor: string;
  rows: readonly AuditRow[];
  set: SetFilters<typeof SHAPE>;
}

/** Members, and all other actors on the page: operators, management keys, the gateway, people who left. */
function Who({ org, actor, rows, set }: WhoProps) {
  const seesTeam = useMembership().sees("team");
  const { data: member } = useQuery({
    ...memberQuery(org, actor),
    enabled: seesTeam && actor.startsWith("usr_"),
  });
  const onPage = new Map(rows.map((row) => [row.actor.id, row.actor.name ?? row.actor.id] as const));
  const chosen =
    actor === ""
      ? ALL
      : { value: actor, label: member?.person.name ?? member?.email ?? onPage.get(actor) ?? actor };
  const typed = useTyped(chosen);
  const { data: team, isFetching } = useQuery({
    ...read("GET /orgs/{org}/team", { org }, { search: typed.search }),
    enabled: seesTeam && typed.opened,
  });
  const names = new Map([
    ...[...onPage].filter(([, name]) => name.toLowerCase().includes(typed.search.toLowerCase())),
    ...(team?.data ?? []).map(({ person, email }) => [person.id, person.name ?? email] as const),
  ]);
  return (
    <SearchSelect
      label={words.filters.actor}
      typed={typed}
      isFetching={isFetching}
      value={actor}
      onChange={(chosen) => set({ actor: chosen })}
      found={withChosen(chosen, [ALL, ...[...names].map(([value, label]) => ({ value, label }))])}
    />
  );
}
