// `route list|disable|enable`: which routes are open, and closing them by hand.
import type { Command } from "commander";
import type { RouteJson } from "../src/api/shapes/records.ts";
import { OWN_NAME } from "../src/domain/own-name.ts";
import { everyPage } from "./every-page.ts";
import { confirm } from "./confirm.ts";
import { report, reportWatched, WATCH } from "./report.ts";
import { table } from "./table.ts";

export function addRoute(program: Command): void {
  const route = program.command("route").description("routes: which provider serves which model");
  addList(route);
  addDisable(route);
  route
    .command("enable <route>")
    .description("reopen a route that was closed by hand")
    .action((name: string, _: object, command: Command) =>
      report(command, async (context) => {
        const { text, value } = await (await context.gateway()).call("POST /admin/v1/routes/enable", {
          route: name,
        });
        return { json: text, text: () => `${value.route} is ${value.state}.` };
      }),
    );
}

/** What to do about a closing reason that no person wrote. */
const HELP = {
  unreadable: `unreadable: its newest release is damaged in the store, so it serves nobody. Publish a newer version (${OWN_NAME} release publish), or restore a backup.`,
  unknown_terms:
    "unknown_terms: a newer gateway published its newest release with terms that this one does not know. Update this one, or publish a version without them.",
};

function addList(route: Command): void {
  route
    .command("list")
    .description("list routes with state and health")
    .option(...WATCH)
    .action(({ watch }: { watch?: string | boolean }, command: Command) =>
      reportWatched(command, watch, async (context) => {
        const { text, value } = await everyPage((await context.gateway()).call, "GET /admin/v1/routes", {});
        const columns = {
          ROUTE: (row: RouteJson) => row.route,
          MODEL: (row: RouteJson) => row.model,
          STATE: (row: RouteJson) => row.state,
          SINCE: (row: RouteJson) => row.since,
          VERSION: (row: RouteJson) => row.version,
          EXPIRES: (row: RouteJson) => row.expires_at,
          CIRCUIT: (row: RouteJson) => row.health.circuit,
          REASON: (row: RouteJson) => row.reason,
        };
        return { json: text, text: () => [table(value.data, columns), ...helpFor(value.data)].join("\n\n") };
      }),
    );
}

const helpFor = (routes: readonly RouteJson[]): string[] =>
  Object.entries(HELP).flatMap(([name, help]) =>
    routes.some(({ reason }) => reason === name) ? [help] : [],
  );

function addDisable(route: Command): void {
  route
    .command("disable <route>")
    .description("close a route by hand, from its next request on")
    .option("--reason <text>", "why; shown to operators")
    .option("--yes", "do not ask")
    .action((name: string, options: { reason?: string; yes?: boolean }, command: Command) =>
      report(command, async (context) => {
        const gateway = await context.gateway();
        await confirm(context, { what: "Its requests are refused immediately.", name, yes: options.yes });
        const body = { route: name, reason: options.reason ?? null };
        const { text, value } = await gateway.call("POST /admin/v1/routes/disable", body);
        return {
          json: text,
          text: () => `${value.route} is ${value.state}. Open it: ${OWN_NAME} route enable ${value.route}`,
        };
      }),
    );
}
