// Organizations: find one, make one, invite its owner, look into its pages.
import { Button } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { PAGE_ROWS_MAX } from "../../../src/domain/page-rows.ts";
import { moreOf, readPages } from "../../api/read.ts";
import type { Row } from "../../api/routes.ts";
import { DataTable } from "../../components/data-table.tsx";
import { FilterRow } from "../../components/filters.tsx";
import { Icon } from "../../components/icon.tsx";
import { LinkDialog, type ShownLink } from "../../components/link-dialog.tsx";
import { Page } from "../../components/page.tsx";
import { SearchField } from "../../components/search-field.tsx";
import { Empty, Loaded } from "../../components/states.tsx";
import { text, useFilters } from "../../filters.ts";
import { operatorPageNames } from "../../components/texts.ts";
import { organizationsTexts as words } from "./texts.ts";
import { CreateOrganization, InviteOwner, RenameOrganization } from "./acts.tsx";
import { organizationColumns } from "./columns.tsx";

type OrganizationRow = Row<"GET /operator/organizations">;

const SHAPE = { search: text() };
type Act = { kind: "create" } | { kind: "rename" | "invite"; to: OrganizationRow };

export function OrganizationsPage() {
  const [{ search }, setFilters] = useFilters(SHAPE);
  const organizations = useInfiniteQuery(
    // Few installations have more than one page of these, so that sorting usually covers all of them.
    readPages("GET /operator/organizations", {}, { search, limit: PAGE_ROWS_MAX }),
  );
  const [act, setAct] = useState<Act | null>(null);
  const [link, setLink] = useState<ShownLink | null>(null);
  const close = (): void => setAct(null);
  const create = (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setAct({ kind: "create" })}>
      {words.create}
    </Button>
  );
  return (
    <Page title={operatorPageNames.organizations} lead={words.lead} actions={create}>
      <FilterRow>
        <SearchField
          label={words.search}
          value={search}
          onSearch={(search) => setFilters({ search }, { typed: true })}
        />
      </FilterRow>
      <Loaded query={organizations}>
        {(rows) =>
          rows.length === 0 && search === "" ? (
            <Empty icon="organizations" action={create}>
              {words.empty}
            </Empty>
          ) : (
            <DataTable
              label={operatorPageNames.organizations}
              rows={organizations.hasNextPage ? rows : byName(rows)}
              rowKey={({ id }) => id}
              columns={organizationColumns((kind, to) => setAct({ kind, to }))}
              more={moreOf(organizations)}
            />
          )
        }
      </Loaded>
      {act?.kind === "create" && (
        <CreateOrganization onClose={close} onCreated={(to) => setAct({ kind: "invite", to })} />
      )}
      {act?.kind === "rename" && <RenameOrganization of={act.to} onClose={close} />}
      {act?.kind === "invite" && (
        <InviteOwner
          to={act.to}
          onClose={close}
          onInvited={({ email, link: made, expires_at, mail }) => {
            close();
            setLink({ title: words.invited(email, act.to.name), link: made, expiresAt: expires_at, mail });
          }}
        />
      )}
      <LinkDialog shown={link} onClose={() => setLink(null)}>
        {words.sendLink}
      </LinkDialog>
    </Page>
  );
}

/** The server's order is by id, which means nothing to people. */
const byName = (rows: readonly OrganizationRow[]): OrganizationRow[] =>
  rows.toSorted((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }));
