// `request show`: the receipt of one request, with its hold, attempts and timings.
import type { Command } from "commander";
import type { RequestJson } from "../src/contract/admin.ts";
import { report } from "./report.ts";
import { dollars, fields, table } from "./table.ts";

export function addRequest(program: Command): void {
  program
    .command("request")
    .description("requests as the ledger knows them")
    .command("show <request>")
    .description("show a request's receipt, hold, attempts and timings")
    .action((id: string, _: object, command: Command) =>
      report(command, async (context) => {
        const { text, value } = await (await context.gateway()).get<RequestJson>(
          `/requests/${encodeURIComponent(id)}`,
        );
        return { json: text, text: describe(value) };
      }),
    );
}

function describe(request: RequestJson): string {
  const { usage, gateway, timings } = request;
  const summary = fields({
    request: request.id,
    state: request.state,
    status: request.status,
    error: request.error_code,
    org: request.org,
    key: request.key,
    model: gateway.public_model,
    route: `${gateway.route.provider} ${gateway.route.region}, release ${gateway.route.release_version}`,
    admitted: request.admitted_at,
    ended: request.ended_at,
    held: dollars(request.hold_usd),
    charged: dollars(request.charge_usd),
    tokens: usage === null ? null : `${usage.prompt_tokens} in, ${usage.completion_tokens} out`,
    evidence: gateway.cost?.evidence ?? null,
    "first part": timings.first_part_ms === null ? null : `${timings.first_part_ms} ms`,
    total: timings.total_ms === null ? null : `${timings.total_ms} ms`,
  });
  const attempts = table(request.attempts, {
    ATTEMPT: (row) => row.n,
    ROUTE: (row) => row.route,
    OUTCOME: (row) => row.outcome,
    STATUS: (row) => row.status,
    ERROR: (row) => row.error_class,
    MS: (row) => row.ms,
  });
  return `${summary}\n\n${attempts}`;
}
