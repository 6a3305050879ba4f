// `limits set`, `limits list`: requests and tokens per minute, and concurrent requests.
import type { Command } from "commander";
import type { RateLimitJson } from "../src/api/shapes/rate-limits.ts";
import { RATE_AT_MOST, type RateDimension } from "../src/domain/rate-limits.ts";
import { WrongUsage } from "./problem.ts";
import { report } from "./report.ts";
import { table } from "./table.ts";

interface Place {
  org?: string;
  key?: string;
  model?: string;
}

interface SetOptions extends Place {
  requestsPerMinute?: string;
  tokensPerMinute?: string;
  concurrent?: string;
  ifVersion?: string;
}

export function addLimits(program: Command): void {
  const limits = program.command("limits").description("requests and tokens per minute, concurrent requests");
  addSet(limits);
  addList(limits);
}

function addSet(limits: Command): void {
  limits
    .command("set")
    .description("set or lift limits; with --model alone they apply to each organization separately")
    .option("--org <org>", "an organization's id or name")
    .option("--key <key>", "a key's id")
    .option("--model <model>", "for this model only")
    .option("--requests-per-minute <n|none>", "none lifts the limit")
    .option("--tokens-per-minute <n|none>", "prompt and output together, reserved as quoted")
    .option("--concurrent <n|none>", "concurrent requests")
    .option(
      "--if-version <version>",
      "refuse if these limits changed since `limits list --json` showed this version",
    )
    .action((options: SetOptions, command: Command) =>
      report(command, async (context) => {
        const { org, key, model } = options;
        checkNamed(options);
        const gateway = await context.gateway();
        const { text, value } = await gateway.call("POST /admin/v1/limits", {
          org,
          key,
          model,
          requests_per_minute: numberOf("requests_per_minute", options.requestsPerMinute),
          tokens_per_minute: numberOf("tokens_per_minute", options.tokensPerMinute),
          concurrent: numberOf("concurrent", options.concurrent),
          version: options.ifVersion,
        });
        return { json: text, text: () => [shown([value]), ...alreadyAbove(value)].join("\n") };
      }),
    );
}

/** Uses the words of the command line: the gateway's own message has those of its API. */
function checkNamed({ org, key, model, requestsPerMinute, tokensPerMinute, concurrent }: SetOptions): void {
  if (org === undefined && key === undefined && model === undefined)
    throw new WrongUsage(
      "No owner was given for the limits.",
      "Give one: --org ORG, --key KEY or --model MODEL.",
    );
  if (requestsPerMinute === undefined && tokensPerMinute === undefined && concurrent === undefined)
    throw new WrongUsage(
      "No limit was given.",
      "Give at least one: --requests-per-minute, --tokens-per-minute or --concurrent.",
    );
}

function addList(limits: Command): void {
  limits
    .command("list")
    .description(
      "list the limits of an organization, key or model; without one, each model's limits per organization",
    )
    .option("--org <org>", "an organization's id or name")
    .option("--key <key>", "a key's id")
    .option("--model <model>", "on this model only, including defaults")
    .action(({ org, key, model }: Place, command: Command) =>
      report(command, async (context) => {
        const gateway = await context.gateway();
        const { text, value } = await gateway.call("GET /admin/v1/limits", { org, key, model });
        return { json: text, text: () => shown(value.data) };
      }),
    );
}

function numberOf(dimension: RateDimension, text: string | undefined): number | null | undefined {
  if (text === undefined) return undefined;
  if (text === "none") return null;
  const number = /^\d{1,16}$/.test(text) ? Number(text) : 0;
  const atMost = RATE_AT_MOST[dimension];
  if (number >= 1 && number <= atMost) return number;
  const option = `--${dimension.replaceAll("_", "-")}`;
  throw new WrongUsage(
    `${option} ${text} is neither a whole number from 1 to ${atMost} nor none.`,
    `Use ${option} 60, or ${option} none to lift the limit.`,
  );
}

/** A limit below what is running is still a limit: tells the operator that nothing running is cut off. */
function alreadyAbove({ running, in_force: { concurrent } }: RateLimitJson): string[] {
  if (concurrent === null || running <= concurrent) return [];
  return [
    `${running} are running now and will finish; no new one starts until fewer than ${concurrent} are running.`,
  ];
}

const shown = (rows: readonly RateLimitJson[]): string =>
  table(rows, {
    ORGANIZATION: ({ org }) => org ?? "each",
    KEY: ({ key }) => key ?? "all",
    MODEL: ({ model }) => model ?? "all",
    "REQUESTS/MIN": (row) => inForce(row, "requests_per_minute"),
    "TOKENS/MIN": (row) => inForce(row, "tokens_per_minute"),
    "AT ONCE": (row) => inForce(row, "concurrent"),
    RUNNING: ({ org, running }) => (org === null ? null : running),
  });

/** The limit in force, and who set it if it was not the operator. */
function inForce(row: RateLimitJson, dimension: keyof RateLimitJson["set"]): string {
  const [holds, set, own] = [row.in_force[dimension], row.set[dimension], row.own[dimension]];
  if (holds === null) return set === null ? "none" : String(set);
  return holds === set ? String(holds) : `${holds} (${holds === own ? "its own" : "default"})`;
}
