// The columns of an audit log, for an organization and for operators: each line as a sentence, with the raw record in
// the tooltip and in the drawer.
import { Text } from "@mantine/core";
import type { Row } from "../../api/routes.ts";
import { auditTexts as words } from "./texts.ts";
import { actorNames } from "../../components/texts.ts";
import type { Column } from "../../components/data-table.tsx";
import { Time } from "../../components/figures.tsx";
import { Link } from "../../components/link.tsx";
import { rawOf, sentenceOf } from "./sentence.ts";
import { OrganizationName } from "../../components/organization-name.tsx";

export type AuditRow = Row<"GET /operator/audit">;

/** Who acted: a name if known here, otherwise the id. */
function actorOf({ actor: { id, name } }: AuditRow): string {
  const [kind = "", of] = id.split(" ");
  const known = actorNames[id];
  if (name !== null || known !== undefined) return name ?? known ?? id;
  // A payment service and the order that was paid through it.
  const service = of === undefined ? undefined : actorNames[kind];
  return service === undefined ? id : `${service} (${of})`;
}

/** What happened, with the names in it highlighted. */
export const Sentence = ({ of }: { of: AuditRow }) => (
  <Text size="sm" className="name sentence clamped" title={rawOf(of)} component="span">
    <strong>{actorOf(of)}</strong>{" "}
    {sentenceOf(of).map((part, place) =>
      typeof part === "string" ? (
        part
      ) : (
        <em key={place} dir="auto">
          {part.name}
        </em>
      ),
    )}
  </Text>
);

const TIME: Column<AuditRow> = {
  title: words.columns.at,
  always: true,
  cell: ({ id, at }) => (
    <Link to="." search={(now: object) => ({ ...now, line: id })} resetScroll={false} size="sm">
      <Time at={at} />
    </Link>
  ),
};

const WHAT: Column<AuditRow> = {
  title: words.columns.what,
  always: true,
  cell: (row) => <Sentence of={row} />,
};

const WHERE: Column<AuditRow> = {
  title: words.columns.org,
  cell: ({ org, org_name }) => (
    <Text size="sm" className="name clamped" title={org ?? words.platform} component="span">
      {org === null ? words.platform : <OrganizationName id={org} name={org_name} />}
    </Text>
  ),
};

const ADDRESS: Column<AuditRow> = {
  title: words.columns.address,
  cell: ({ address }) => (
    <Text size="sm" c="dimmed" className="name" component="span">
      {address ?? "–"}
    </Text>
  ),
};

export const AUDIT_COLUMNS: Column<AuditRow>[] = [TIME, WHAT, ADDRESS];
/** For all organizations. */
export const OPERATOR_AUDIT_COLUMNS: Column<AuditRow>[] = [TIME, WHAT, WHERE, ADDRESS];
