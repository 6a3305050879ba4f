// Who changed what, in all organizations and on the platform; the log only grows.
import { SimpleGrid, TextInput } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { withQuery } from "../../../api/client.ts";
import { moreOf, pagedQuery } from "../../../api/paged.ts";
import { api } from "../../../api/paths.ts";
import { AUDIT_COLUMNS, type AuditRow } from "../../../components/audit-columns.tsx";
import { DataTable } from "../../../components/data-table.tsx";
import { ButtonLink } from "../../../components/link.tsx";
import { Page } from "../../../components/page.tsx";
import { Loaded, Loading } from "../../../components/states.tsx";
import { text, useFilters } from "../../../filters.ts";
import { texts } from "../../../texts.ts";

const words = texts.operatorAudit;
const SHAPE = { org: text(), actor: text(), action: text(), target: text() };

export function OperatorAuditPage() {
  const [filters, setFilters] = useFilters(SHAPE);
  const log = useInfiniteQuery(pagedQuery<AuditRow>(["operator", "audit"], api.operatorAudit, filters));
  return (
    <Page
      title={texts.operatorPages.audit}
      lead={words.lead}
      actions={
        <ButtonLink to={withQuery(api.operatorAuditCsv, filters)} reloadDocument variant="default">
          {words.csv}
        </ButtonLink>
      }
    >
      <SimpleGrid cols={{ base: 2, sm: 4 }} spacing="sm" verticalSpacing="sm">
        {(["org", "actor", "action", "target"] as const).map((name) => (
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
            label={texts.operatorPages.audit}
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
