// `--org`: an organization by its id or by its name. If several organizations have the name, none is chosen.
import type { OrganizationJson } from "../src/api/shapes/records.ts";
import { comparableName } from "../src/domain/visible-text.ts";
import { Problem } from "./problem.ts";

const NAMED_AT_MOST = 10;

export const isOrganizationId = (text: string): boolean => text.startsWith("org_");

/** Returns its id. Throws `Problem` if no organization has the name, or several do: then with the id of each. */
export function organizationNamed(name: string, all: readonly OrganizationJson[]): string {
  const meant = comparableName(name);
  const found = all.filter((one) => comparableName(one.name) === meant);
  const [only] = found;
  if (only === undefined)
    throw new Problem(`No organization is called "${name}".`, "List them: ./tollgate org list");
  if (found.length === 1) return only.id;
  const rows = found
    .slice(0, NAMED_AT_MOST)
    .map(({ id, name: called, created_at }) => `${id}, "${called}", created at ${created_at}`);
  const others = found.length - rows.length;
  throw new Problem(
    `${found.length} organizations are called "${name}":\n  ${rows.join("\n  ")}${others > 0 ? `\n  and ${others} more` : ""}`,
    "Give its id: --org ORG.",
  );
}
