// `request show|list|tail`: the receipt of one request, a list of past requests, or requests as they end.
import type { Command } from "commander";
import type { HeldNothingJson, RequestJson } from "../src/api/shapes/requests.ts";
import type { RequestListJson } from "../src/api/shapes/activity.ts";
import { ACTIVITY_STATES } from "../src/domain/activity-states.ts";
import { counted } from "../src/domain/counted.ts";
import { SURFACES } from "../src/domain/surfaces.ts";
import { oneOf, orOf } from "./choice.ts";
import type { Answer, Gateway } from "./gateway.ts";
import { tellMore } from "./paged.ts";
import { notWithJson, report } from "./report.ts";
import { addVerify } from "./request-verify.ts";
import { dollars, fields, plain, table } from "./table.ts";

export function addRequest(program: Command): void {
  const request = program.command("request").description("requests, as recorded in the ledger");
  request
    .command("show <request>")
    .description(
      "show a request's receipt, hold, attempts and timings, or what a refused or replayed request asked for",
    )
    .action((id: string, _: object, command: Command) =>
      report(command, async (context) => {
        const gateway = await context.gateway();
        const { text, value } = await gateway.call("GET /admin/v1/requests/{id}", { id });
        return {
          json: text,
          text: () => ("gateway" in value ? describe(value) : describeHeldNothing(value)),
        };
      }),
    );
  addVerify(request);
  withFilters(request.command("list"))
    .description("list an organization's requests, newest first, including refusals and replays")
    .option("--limit <n>", "at most this many, up to 200", "50")
    .option("--cursor <cursor>", "next_cursor of the previous page")
    .action((options: Filters & Page, command: Command) =>
      report(command, async (context) => {
        const { limit, cursor } = options;
        const { text, value } = await listed(await context.gateway(), options, { limit, cursor });
        tellMore(value);
        return { json: text, text: () => table(value.data, COLUMNS) };
      }),
    );
  withFilters(request.command("tail"))
    .description("print an organization's requests as they end, until Ctrl-C")
    .action(async (options: Filters, command: Command) => {
      notWithJson(command, "request tail");
      await report(command, async (context) => tail(await context.gateway(), options));
    });
}

interface Filters {
  org: string;
  key?: string;
  model?: string;
  status?: Row["state"];
  code?: string;
  surface?: (typeof SURFACES)[number];
}

interface Page {
  limit?: string | undefined;
  cursor?: string | undefined;
  find?: string;
}

const withFilters = (command: Command): Command =>
  command
    .requiredOption("--org <org>", "the organization's id or name")
    .option("--key <key>", "of one key")
    .option("--model <model>", "of one model")
    .option("--status <state>", orOf(ACTIVITY_STATES), oneOf(ACTIVITY_STATES))
    .option("--surface <surface>", orOf(SURFACES), oneOf(SURFACES))
    .option("--code <code>", "with this error code");

const listed = (gateway: Gateway, filters: Filters, page: Page): Promise<Answer<RequestListJson>> => {
  const { org, key, model, status, surface, code } = filters;
  return gateway.call("GET /admin/v1/requests", { org, key, model, state: status, surface, code, ...page });
};

type Row = RequestListJson["data"][number];

const COLUMNS = {
  REQUEST: (row: Row) => row.id,
  AT: (row: Row) => row.at,
  STATE: (row: Row) => row.state,
  STATUS: (row: Row) => row.status,
  CODE: (row: Row) => row.code,
  TIMES: (row: Row) => row.requests,
  MODEL: (row: Row) => row.model,
  SURFACE: (row: Row) => row.surface,
  KEY: (row: Row) => row.key.name,
  TOKENS: (row: Row) =>
    row.input_tokens === null ? null : `${row.input_tokens} + ${plain(row.output_tokens)}`,
  ASKED: (row: Row) => dollars(row.asked?.hold_usd ?? null),
  CHARGE: (row: Row) => dollars(row.charge_usd),
  MS: (row: Row) => row.total_ms,
};

const LOOK_EVERY_MS = 1_000;
const AT_ONCE = 200;
const FIRST_SHOWN = 10;

/** Prints the latest requests, then each one as it ends; if more than 200 end within a second, the newest 200. */
async function tail(gateway: Gateway, filters: Filters): Promise<never> {
  const print = (row: Row): void => {
    const cells = Object.values(COLUMNS).map((cell) => plain(cell(row)));
    process.stdout.write(`${cells.join("  ")}\n`);
  };
  const look = looksOf(gateway, filters);
  const first = await look();
  first.slice(-FIRST_SHOWN).forEach(print);
  for (let seen = new Set(first.map(({ id }) => id)); ; await Bun.sleep(LOOK_EVERY_MS)) {
    const rows = await look();
    rows.filter(({ id }) => !seen.has(id)).forEach(print);
    seen = new Set(rows.map(({ id }) => id));
  }
}

/** Requests in these states never ran, or are still running. */
const NOT_ENDED = new Set<string | undefined>(["running", "refused", "replay"]);
/**
 * The maximum number of running requests that are followed, and of those no longer listed that are looked up each time.
 */
const FOLLOWED = 1_000;
const LOOKED_UP = 10;

/**
 * Each call returns the newest requests to show, oldest first. Before them it returns requests that ended since the
 * last call but are no longer among the newest 200.
 */
function looksOf(gateway: Gateway, filters: Filters): () => Promise<Row[]> {
  const { status, code, ...all } = filters;
  const ask = async (of: Filters, page: Page): Promise<Row[]> =>
    (await listed(gateway, of, { limit: String(AT_ONCE), ...page })).value.data;
  let followed: string[] = [];
  return async () => {
    const running = NOT_ENDED.has(status) ? [] : await ask({ ...all, status: "running" }, {});
    const newest = await ask(filters, {});
    const listedNow = new Set([...running, ...newest].map(({ id }) => id));
    const overtaken = followed.filter((id) => !listedNow.has(id));
    const found: Row[] = [];
    for (const id of overtaken.splice(0, LOOKED_UP)) found.push(...(await ask(all, { find: id })));
    const still = found.filter(({ state }) => state === "running");
    followed = [...overtaken, ...still.map(({ id }) => id), ...running.map(({ id }) => id)].slice(-FOLLOWED);
    const ended = found.filter(({ state }) => state !== "running" && (status ?? state) === state);
    const shown = newest.filter(({ state }) => state !== "running" || status === "running");
    return [...ended.filter((row) => (code ?? row.code) === row.code), ...shown.toReversed()];
  };
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
    surface: request.surface,
    route: `${gateway.route.provider} ${gateway.route.region}, release ${gateway.route.release_version}`,
    admitted: request.admitted_at,
    ended: request.ended_at,
    held: dollars(request.hold_usd),
    charged: dollars(request.charge_usd),
    refunded: dollars(request.refunded_usd),
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
  const said = request.attempts.flatMap(({ n, words }) =>
    words === null ? [] : [`attempt ${n}, the provider said: ${plain(words)}`],
  );
  const claims = request.attempts.flatMap(claimsOf);
  return [
    summary,
    attempts,
    ...[said, claims].filter((lines) => lines.length > 0).map((lines) => lines.join("\n")),
  ].join("\n\n");
}

/** Why the provider's figures were not taken as they were, and what it reported beyond the quote. */
function claimsOf({ n, doubts, told }: RequestJson["attempts"][number]): string[] {
  const figures = Object.entries(told ?? {}).filter(([, figure]) => figure !== null && figure !== undefined);
  return [
    ...(doubts.length > 0 ? [`attempt ${n}, doubts: ${doubts.join(", ")}`] : []),
    ...(figures.length > 0
      ? [
          `attempt ${n}, reported beyond the quote: ${figures.map(([name, figure]) => `${name} ${figure}`).join(", ")}`,
        ]
      : []),
  ];
}

function describeHeldNothing(request: HeldNothingJson): string {
  const { asked, details, requests } = request;
  return fields({
    request: request.id,
    state: request.state,
    requests: requests === 1 ? null : `${requests} alike, counted in one row`,
    status: request.status,
    error: request.error_code,
    org: request.org,
    key: request.key ?? "several keys",
    model: request.model ?? (requests === 1 ? "not read before it was refused" : "not read, or several"),
    received: request.received_at,
    last: requests === 1 ? null : request.last_at,
    "paid by": request.replay_of,
    "idempotency key": request.idempotency_key,
    waited: request.waited_ms === null ? null : `${request.waited_ms} ms`,
    prompt: asked === null ? notPriced(request) : promptOf(asked),
    output: asked === null ? null : `at most ${counted(asked.output_tokens, "token")}`,
    "would have held": asked === null ? null : dollars(asked.hold_usd),
    ...details,
  });
}

const notPriced = ({ requests }: HeldNothingJson): string =>
  requests === 1 ? "not priced before it was refused" : "not priced, or not the same";

const promptOf = ({ prompt_tokens, prompt_counted }: NonNullable<HeldNothingJson["asked"]>): string =>
  prompt_counted === true
    ? `${counted(prompt_tokens, "token")}, counted`
    : `at most ${counted(prompt_tokens, "token")}, by its bytes`;
