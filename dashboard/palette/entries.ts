// The entries of the palette: pages that the person may see, at once, and what the server finds, each with its
// target.
import type { Row } from "../api/routes.ts";
import type { IconName } from "../components/icon.tsx";
import { nameAmong } from "../components/organization-name.tsx";
import type { Namesakes } from "../format/namesakes.ts";
import { operatorPageNames, pageNames } from "../components/texts.ts";
import { maySee, type OwnStanding } from "../membership.tsx";
import { OPERATOR_PAGES, ORGANIZATION_PAGES, path } from "../path-builder.ts";
import { paletteTexts as words } from "./texts.ts";

export interface Entry {
  id: string;
  group: keyof typeof words.groups;
  icon: IconName;
  title: string;
  detail: string | null;
  to: string;
  search: Record<string, string>;
}

export type FoundRow = Row<"GET /operator/search">;

/** Who is looking, and from where. */
export interface Looker {
  /** The organization whose pages are open; null on the operator's pages. */
  org: OwnStanding | null;
  organizations: readonly { id: string; name: string }[];
  operator: boolean;
}

/** Who is looking, with the organizations that share a name and have to be distinguished. */
export interface Telling extends Looker {
  namesakes: Namesakes;
}

/** All pages; `matching` narrows them. */
export function pagesOf({ org, organizations, operator, namesakes }: Telling): Entry[] {
  const own = org === null ? [] : ORGANIZATION_PAGES.filter((page) => maySee(org, page));
  return [
    ...own.map((page) =>
      pageEntry({ id: page, icon: page, title: pageNames[page], to: path.organization(org?.id ?? "", page) }),
    ),
    ...(operator ? OPERATOR_PAGES.filter((page) => page !== "account") : []).map((page) =>
      pageEntry({
        id: `operator-${page}`,
        icon: page,
        title: operatorPageNames[page],
        detail: words.operator,
        to: path.operator(page),
      }),
    ),
    ...organizations
      .filter(({ id }) => id !== org?.id)
      .map(({ id, name }) => ({
        ...pageEntry({
          id: `org-${id}`,
          icon: "organizations" as const,
          title: nameAmong(namesakes, { id, name }),
          to: path.organization(id),
        }),
        group: "organization" as const,
      })),
  ];
}

const pageEntry = (of: {
  id: string;
  icon: IconName;
  title: string;
  detail?: string;
  to: string;
}): Entry => ({
  detail: null,
  ...of,
  group: "pages",
  search: {},
});

/** Those that contain every word; those that begin with the text come first. */
export function matching(entries: readonly Entry[], typed: string): Entry[] {
  const text = typed.trim().toLowerCase();
  const wanted = text.split(/\s+/);
  const textOf = ({ title, detail }: Entry): string => `${title} ${detail ?? ""}`.toLowerCase();
  return entries
    .filter((entry) => wanted.every((word) => textOf(entry).includes(word)))
    .toSorted((a, b) => Number(textOf(b).startsWith(text)) - Number(textOf(a).startsWith(text)));
}

/** The target of a row. From the operator's pages a model leads to its routes. */
export function entryOf(found: FoundRow, looker: Telling): Entry {
  const elsewhere =
    found.org === null || found.org_name === null || found.org === looker.org?.id
      ? null
      : nameAmong(looker.namesakes, { id: found.org, name: found.org_name });
  const detail = [found.detail, elsewhere, found.state?.replaceAll("_", " ") ?? null].filter(
    (one) => one !== null,
  );
  const entry = {
    id: `${found.kind}-${found.id}`,
    group: found.kind,
    icon: ICONS[found.kind],
    title: found.title,
    detail: detail.length === 0 ? null : detail.join(" · "),
  };
  const org = found.org ?? looker.org?.id ?? "";
  switch (found.kind) {
    case "organization":
      return { ...entry, detail: found.id, to: path.organization(org), search: {} };
    case "key":
      return { ...entry, to: path.key(org, found.id), search: {} };
    case "request":
      return { ...entry, to: path.organization(org, "activity"), search: { req: found.id } };
    case "model":
      return looker.org === null
        ? { ...entry, to: path.operator("routes"), search: {} }
        : { ...entry, to: path.organization(org, "models"), search: { search: found.id } };
  }
}

const ICONS: Record<FoundRow["kind"], IconName> = {
  organization: "organizations",
  key: "keys",
  model: "models",
  request: "activity",
};

/** For what only Activity, or the operators' Requests, can search: ids of answers, idempotency keys. */
export const inActivity = ({ org }: Looker, typed: string): Entry => ({
  id: "find",
  group: "request",
  icon: org === null ? "requests" : "activity",
  title: words.inActivity(typed, org === null ? operatorPageNames.requests : pageNames.activity),
  detail: words.inActivityHelp,
  to: org === null ? path.operator("requests") : path.organization(org.id, "activity"),
  search: { find: typed },
});
