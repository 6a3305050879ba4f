// `org create`, `org list`.
import type { Command } from "commander";
import type { OrganizationJson } from "../src/api/shapes/records.ts";
import { type Paged, wholeOrPage, wholeOrPaged } from "./paged.ts";
import { report } from "./report.ts";
import { fields, table } from "./table.ts";

export function addOrg(program: Command): void {
  const org = program.command("org").description("organizations: who owns credits and keys");
  org
    .command("create")
    .description("create an organization")
    .requiredOption("--name <name>", "its display name, at most 200 characters")
    .action((options: { name: string }, command: Command) =>
      report(command, async (context) => {
        const { text, value } = await (await context.gateway()).call("POST /admin/v1/organizations", {
          name: options.name,
        });
        return { json: text, text: () => fields({ ...value }) };
      }),
    );
  wholeOrPaged(
    org
      .command("list")
      .description("list organizations, oldest first")
      .option("--search <text>", "part of the name, or an id"),
  ).action((options: Paged & { search?: string }, command: Command) =>
    report(command, async (context) => {
      const gateway = await context.gateway();
      const { text, value } = await wholeOrPage(gateway, "GET /admin/v1/organizations", { ...options });
      const columns = {
        ID: (row: OrganizationJson) => row.id,
        NAME: (row: OrganizationJson) => row.name,
        CREATED: (row: OrganizationJson) => row.created_at,
      };
      return { json: text, text: () => table(value.data, columns) };
    }),
  );
}
