// `entitlement request|approve|revoke|list`: Research Mode for one model (specification 5).
import type { Command } from "commander";
import type { EntitlementJson } from "../src/api/shapes/records.ts";
import { oneOf, orOf } from "./choice.ts";
import { confirm } from "./confirm.ts";
import { instantOf } from "./instant.ts";
import { type Paged, wholeOrPage, wholeOrPaged } from "./paged.ts";
import { report } from "./report.ts";
import { fields, table } from "./table.ts";

interface RequestOptions {
  org: string;
  model: string;
  project: string;
}

export function addEntitlement(program: Command): void {
  const entitlement = program
    .command("entitlement")
    .description("Research Mode entitlements of organizations");
  addRequest(entitlement);
  addApprove(entitlement);
  addRevoke(entitlement);
  addList(entitlement);
}

function addRequest(entitlement: Command): void {
  entitlement
    .command("request")
    .description("request an entitlement for a model")
    .requiredOption("--org <org>", "the organization's id or name")
    .requiredOption("--model <model>", "the research model's id")
    .requiredOption("--project <name>", "the approved project")
    .action((options: RequestOptions, command: Command) =>
      report(command, async (context) => {
        const { org, model, project } = options;
        const gateway = await context.gateway();
        const { text, value } = await gateway.call("POST /admin/v1/entitlements", { org, model, project });
        return { json: text, text: () => fields({ ...value }) };
      }),
    );
}

function addApprove(entitlement: Command): void {
  entitlement
    .command("approve <id>")
    .description("approve a requested entitlement")
    .requiredOption("--expires <time>", "its end: 2026-12-31, 2026-12-31T12:00:00Z, or from now on, like 30d")
    .action((id: string, options: { expires: string }, command: Command) =>
      report(command, async (context) => {
        const expires = instantOf(options.expires, Date.now());
        const gateway = await context.gateway();
        const { text, value } = await gateway.call("POST /admin/v1/entitlements/{id}/approve", {
          id,
          expires,
        });
        return { json: text, text: () => `${value.id} is active until ${value.expires_at}.` };
      }),
    );
}

function addRevoke(entitlement: Command): void {
  entitlement
    .command("revoke <id>")
    .description("revoke an entitlement")
    .option("--yes", "do not ask")
    .action((id: string, options: { yes?: boolean }, command: Command) =>
      report(command, async (context) => {
        const gateway = await context.gateway();
        await confirm(context, {
          what: "Its research calls are refused immediately.",
          name: id,
          yes: options.yes,
        });
        const { text, value } = await gateway.call("POST /admin/v1/entitlements/{id}/revoke", { id });
        return { json: text, text: () => `${value.id} is ${value.status}.` };
      }),
    );
}

const STATUSES = ["requested", "active", "revoked", "expired"] as const;

function addList(entitlement: Command): void {
  wholeOrPaged(
    entitlement
      .command("list")
      .description("list entitlements, in the order of their requests")
      .option("--org <org>", "of one organization")
      .option("--search <text>", "part of the model or project, or an id")
      .option("--status <status>", orOf(STATUSES), oneOf(STATUSES)),
  ).action(
    (
      options: Paged & { org?: string; search?: string; status?: (typeof STATUSES)[number] },
      command: Command,
    ) =>
      report(command, async (context) => {
        const gateway = await context.gateway();
        const { text, value } = await wholeOrPage(gateway, "GET /admin/v1/entitlements", { ...options });
        const columns = {
          ID: (row: EntitlementJson) => row.id,
          ORG: (row: EntitlementJson) => row.org,
          MODEL: (row: EntitlementJson) => row.model,
          PROJECT: (row: EntitlementJson) => row.project,
          "REQUESTED BY": (row: EntitlementJson) => row.requested_by,
          STATUS: (row: EntitlementJson) => row.status,
          EXPIRES: (row: EntitlementJson) => row.expires_at,
        };
        return { json: text, text: () => table(value.data, columns) };
      }),
  );
}
