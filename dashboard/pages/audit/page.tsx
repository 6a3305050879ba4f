// Who changed what in this organization; rows are only ever added.
import { SimpleGrid, TextInput } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { withQuery } from "../../api/client.ts";
import { moreOf, pagedQuery } from "../../api/paged.ts";
import { api } from "../../api/paths.ts";
import { AUDIT_COLUMNS, type AuditRow } from "../../components/audit-columns.tsx";
import { DataTable } from "../../components/data-table.tsx";
import { ButtonLink } from "../../components/link.tsx";
import { Page } from "../../components/page.tsx";
import { Loaded, Loading } from "../../components/states.tsx";
import { askedWindow, TimeWindow, windowShape } from "../../components/time-window.tsx";
import { text, useFilters } from "../../filters.ts";
import { useMembership } from "../../membership.tsx";
import { texts } from "../../texts.ts";

const words = texts.operatorAudit;
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
        {(["actor", "action", "target"] as const).map((name) => (
          <TextInput
            key={name}
            label={words.filters[name]}
            value={filters[name]}
            onChange={(event) => setFilters({ [name]: event.currentTarget.value })}
          />
        ))}
      </SimpleGrid>
      <Loaded query={log} loading={<Loading lines={8} />}>
        {(rows) => (
          <DataTable
            label={texts.pages.audit}
            rows={rows}
            rowKey={({ id }) => id}
            columns={AUDIT_COLUMNS}
            more={moreOf(log)}
          />
        )}
      </Loaded>
    </Page>
  );
}
