// Who changed what, in all organizations and on the platform; the log only grows.
import { useInfiniteQuery } from "@tanstack/react-query";
import { withQuery } from "../../../api/client.ts";
import { moreOf, pagedQuery } from "../../../api/paged.ts";
import { api } from "../../../api/paths.ts";
import type { AuditRow } from "../../../components/audit-columns.tsx";
import { AuditTable } from "../../../components/audit-table.tsx";
import { ButtonLink } from "../../../components/link.tsx";
import { Page } from "../../../components/page.tsx";
import { Loaded, Loading } from "../../../components/states.tsx";
import { useFilters } from "../../../filters.ts";
import { texts } from "../../../texts.ts";
import { asked, AuditFilters, SHAPE } from "./filters.tsx";

const words = texts.operatorAudit;

export function OperatorAuditPage() {
  const [filters, setFilters] = useFilters(SHAPE);
  const log = useInfiniteQuery(
    pagedQuery<AuditRow>(["operator", "audit"], api.operatorAudit, asked(filters)),
  );
  return (
    <Page
      title={texts.operatorPages.audit}
      lead={words.lead}
      actions={
        <ButtonLink to={withQuery(api.operatorAuditCsv, asked(filters))} reloadDocument variant="default">
          {words.csv}
        </ButtonLink>
      }
    >
      <AuditFilters filters={filters} set={setFilters} />
      <Loaded query={log} loading={<Loading lines={8} />}>
        {(rows) => (
          <AuditTable
            label={texts.operatorPages.audit}
            url={api.operatorAudit}
            rows={rows}
            more={moreOf(log)}
          />
        )}
      </Loaded>
    </Page>
  );
}
