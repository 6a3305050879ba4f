// Requests of every organization, newest first, for following up an id, a refusal or a model.
import { Text } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { memo, useMemo } from "react";
import { readFound } from "../../../api/read.ts";
import { type Answer, addressOf, type Row } from "../../../api/routes.ts";
import { sessionQuery } from "../../../api/session.ts";
import { type Column, DataTable, WhereFolded } from "../../../components/data-table.tsx";
import { FileLink, Link } from "../../../components/link.tsx";
import { Page } from "../../../components/page.tsx";
import { Empty, Former, Loading, Trouble } from "../../../components/states.tsx";
import { operatorPageNames } from "../../../components/texts.ts";
import { type Filters, type SetFilters, stringifySearch } from "../../../filters.ts";
import { path } from "../../../path-builder.ts";
import { ColumnChooser, useColumns } from "../../activity/column-chooser.tsx";
import { activityColumns } from "../../activity/columns.tsx";
import { useListFilters } from "../../activity/list-filters.ts";
import { Older } from "../../activity/older.tsx";
import { activityTexts } from "../../activity/texts.ts";
import { OperatorDrawer } from "./drawer.tsx";
import { askedOf, isNarrowed, RequestFilters, SHAPE } from "./filters.tsx";
import { operatorRequestsTexts as words } from "./texts.ts";
import { OrganizationName } from "../../../components/organization-name.tsx";

type FoundRow = Row<"GET /operator/requests">;
type Listed = Omit<Filters<typeof SHAPE>, "req">;
type Set = SetFilters<typeof SHAPE>;

const ROWS = 100;
const NONE: readonly FoundRow[] = [];

export function OperatorRequestsPage() {
  const { req, listed, set } = useListFilters(SHAPE);
  const { data: session } = useQuery(sessionQuery);
  const { before } = listed;
  const asked = { ...askedOf(listed), limit: String(ROWS), ...(before !== "" && { cursor: before }) };
  const requests = useQuery({
    ...readFound("GET /operator/requests", {}, asked),
    placeholderData: keepPreviousData,
  });
  const [chosen, choose] = useColumns(session?.person.id ?? "");
  const columns = useMemo(() => columnsOf({ chosen, listed, set }), [chosen, listed, set]);
  const rows = requests.data?.data ?? NONE;
  return (
    <Page
      title={operatorPageNames.requests}
      lead={words.lead}
      actions={
        <>
          <ColumnChooser chosen={chosen} choose={choose} />
          <FileLink to={addressOf("GET /operator/requests.csv", {}, askedOf(listed))}>
            {activityTexts.csv}
          </FileLink>
        </>
      }
    >
      <RequestFilters filters={listed} set={set} />
      <OperatorDrawer
        request={req}
        rows={rows}
        open={(id) => set({ req: id })}
        onClose={() => set({ req: "" })}
      />
      <Trouble query={requests} />
      {requests.isPending && <Loading lines={8} />}
      {requests.data !== undefined && (
        <Former query={requests}>
          <Found of={requests.data} filters={listed} columns={columns} set={set} />
        </Former>
      )}
      <Older of={requests.data} before={before} busy={requests.isPlaceholderData} set={set} />
    </Page>
  );
}

interface ColumnTerms {
  chosen: Parameters<typeof activityColumns>[0]["chosen"];
  listed: Listed;
  set: Set;
}

/** Activity's columns, with the organization after the outcome. */
function columnsOf({ chosen, listed, set }: ColumnTerms): Column<FoundRow>[] {
  const addressed = (id: string): string =>
    path.operator("requests") + stringifySearch({ ...listed, req: id });
  const columns = activityColumns({ chosen, addressOf: addressed, open: (id) => set({ req: id }) });
  return columns.flatMap((column, at): Column<FoundRow>[] =>
    at === 0 ? [withOwner(column)] : at === 1 ? [column, ORGANIZATION] : [column],
  );
}

/** The organization below the time, if its own column is folded. */
const withOwner = (column: Column<FoundRow>): Column<FoundRow> => ({
  ...column,
  cell: (row) => (
    <>
      {column.cell(row)}
      <WhereFolded title={words.organization}>
        <Text
          size="xs"
          maw="max(4.5rem, 100vw - 16rem)"
          className="name clamped"
          title={`${row.org.name} · ${row.org.id}`}
        >
          <OrganizationName {...row.org} />
        </Text>
      </WhereFolded>
    </>
  ),
});

const ORGANIZATION: Column<FoundRow> = {
  title: words.organization,
  cell: ({ org }) => (
    <Link to={path.organization(org.id)} size="sm" className="name clamped" title={`${org.name} · ${org.id}`}>
      <OrganizationName {...org} />
    </Link>
  ),
};

type Found = Answer<"GET /operator/requests">;

interface FoundProps {
  of: Found;
  filters: Listed;
  columns: readonly Column<FoundRow>[];
  set: Set;
}

const Found = memo(function Found({ of: { data, searched_to }, filters, columns, set }: FoundProps) {
  if (data.length === 0 && searched_to !== null) return null;
  return data.length === 0 && !isNarrowed(filters) ? (
    <Empty icon="requests">{words.empty}</Empty>
  ) : (
    <DataTable
      label={operatorPageNames.requests}
      rows={data}
      rowKey={({ id }) => id}
      columns={columns}
      onOpen={({ id }) => set({ req: id })}
      dense
    />
  );
});
