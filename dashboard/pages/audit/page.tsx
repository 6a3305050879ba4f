// Who changed what in this organization; rows are only ever added.
import { Select, SimpleGrid } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { ORGANIZATION_ACTIONS } from "../../../src/contract/audit-actions.ts";
import { withQuery } from "../../api/client.ts";
import { moreOf, pagedQuery } from "../../api/paged.ts";
import { api } from "../../api/paths.ts";
import { teamQuery } from "../../api/team.ts";
import type { AuditRow } from "../../components/audit-columns.tsx";
import { AuditTable } from "../../components/audit-table.tsx";
import { ButtonLink } from "../../components/link.tsx";
import { Page } from "../../components/page.tsx";
import { SearchField } from "../../components/search-field.tsx";
import { Loaded, Loading } from "../../components/states.tsx";
import { askedWindow, TimeWindow, windowShape } from "../../components/time-window.tsx";
import { type SetFilters, text, useFilters } from "../../filters.ts";
import { maySee, useMembership } from "../../membership.tsx";
import { texts } from "../../texts.ts";

const words = texts.operatorAudit;
const ALL = { value: "", label: words.all };
const SHAPE = { ...windowShape(""), actor: text(), action: text(), target: text() };

export function AuditPage() {
  const { org } = useMembership();
  const [filters, setFilters] = useFilters(SHAPE);
  const { actor, action, target } = filters;
  const asked = { actor, action, target, ...askedWindow(filters) };
  const log = useInfiniteQuery(
    pagedQuery<AuditRow>(["organization", org.id, "audit"], api.audit(org.id), asked),
  );
  return (
    <Page
      title={texts.pages.audit}
      lead={texts.audit.lead}
      actions={
        <ButtonLink to={withQuery(api.auditCsv(org.id), asked)} reloadDocument variant="default">
          {words.csv}
        </ButtonLink>
      }
    >
      <TimeWindow filters={filters} set={setFilters} all />
      <SimpleGrid cols={{ base: 2, sm: 4 }} spacing="sm" verticalSpacing="sm">
        <Who org={org.id} actor={filters.actor} rows={log.data ?? []} set={setFilters} />
        <Select
          label={words.filters.action}
          searchable
          allowDeselect={false}
          value={filters.action}
          onChange={(action) => setFilters({ action: action ?? "" })}
          data={[ALL, ...ORGANIZATION_ACTIONS]}
        />
        <SearchField
          label={words.filters.target}
          value={filters.target}
          onSearch={(target) => setFilters({ target }, { typed: true })}
        />
      </SimpleGrid>
      <Loaded query={log} loading={<Loading lines={8} />}>
        {(rows) => (
          <AuditTable label={texts.pages.audit} url={api.audit(org.id)} rows={rows} more={moreOf(log)} />
        )}
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

/** Members, and whoever else has a row on the page: operators, management keys, the gateway, people who left. */
function Who({ org, actor, rows, set }: WhoProps) {
  const { role } = useMembership().org;
  const team = useQuery({ ...teamQuery(org), enabled: maySee(role, "team") });
  const names = new Map([
    ...(actor === "" ? [] : [[actor, actor] as const]),
    ...rows.map((row) => [row.actor.id, row.actor.name ?? row.actor.id] as const),
    ...(team.data?.data ?? []).map(({ person, email }) => [person.id, person.name ?? email] as const),
  ]);
  return (
    <Select
      label={words.filters.actor}
      searchable
      allowDeselect={false}
      value={actor}
      onChange={(chosen) => set({ actor: chosen ?? "" })}
      data={[ALL, ...[...names].map(([value, label]) => ({ value, label }))]}
    />
  );
}
