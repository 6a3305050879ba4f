// Who changed what, in all organizations and on the platform; the log only grows.
import { useInfiniteQuery } from "@tanstack/react-query";
import { moreOf, readPages } from "../../../api/read.ts";
import { addressOf } from "../../../api/routes.ts";
import { AuditTable } from "../../audit/table.tsx";
import { FileLink } from "../../../components/link.tsx";
import { Page } from "../../../components/page.tsx";
import { Loaded, Loading } from "../../../components/states.tsx";
import { useFilters } from "../../../filters.ts";
import { auditTexts as words } from "../../audit/texts.ts";
import { operatorPageNames } from "../../../components/texts.ts";
import { asked, AuditFilters, SHAPE } from "./filters.tsx";

export function OperatorAuditPage() {
  const [filters, setFilters] = useFilters(SHAPE);
  const log = useInfiniteQuery(readPages("GET /operator/audit", {}, asked(filters)));
  return (
    <Page
      title={operatorPageNames.audit}
      lead={words.operatorLead}
      actions={<FileLink to={addressOf("GET /operator/audit.csv", {}, asked(filters))}>{words.csv}</FileLink>}
    >
      <AuditFilters filters={filters} set={setFilters} />
      <Loaded query={log} loading={<Loading lines={8} />}>
        {(rows) => <AuditTable label={operatorPageNames.audit} org={null} rows={rows} more={moreOf(log)} />}
      </Loaded>
    </Page>
  );
}
