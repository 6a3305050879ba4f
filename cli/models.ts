// `models import|diff`: prices that providers publish, read from a table (docs/design/providers.md §5). `import`
// works without a gateway and writes unsigned manifests; nothing here changes what is served.
import type { Command } from "commander";
import type { ModelUseJson } from "../src/api/shapes/records.ts";
import type { Decimal } from "../src/releases/catalogue/decimal.ts";
import type { MarkedLine, RouteDifference } from "../src/releases/catalogue/difference.ts";
import type { TableEntry } from "../src/releases/catalogue/entry.ts";
import type { Proposal } from "../src/releases/catalogue/proposal.ts";
import type { PriceTable } from "../src/releases/catalogue/table.ts";
import { counted } from "../src/domain/counted.ts";
import { OWN_NAME } from "../src/domain/own-name.ts";
import { everyPage } from "./every-page.ts";
import { keepFiles } from "./keep-files.ts";
import { asProblem, Problem, WrongUsage } from "./problem.ts";
import { type Context, type Outcome, report, say } from "./report.ts";
import { plain, table } from "./table.ts";

export function addModels(program: Command): void {
  const models = program.command("models").description("release manifests from providers' published prices");
  addImport(models);
  addDiff(models);
}

const FROM = [
  "--from <table>",
  "models.dev, litellm, an https address or a file (default: the table shipped with this program)",
] as const;

interface ImportOptions {
  from?: string;
  provider?: string;
  model?: string;
  markup: string;
  as?: string;
  region: string;
  release: string;
  imageTokens?: string;
  fileTokens?: string;
  filePages?: string;
  out?: string;
  force?: boolean;
}

function addImport(models: Command): void {
  models
    .command("import")
    .description("write unsigned manifests from a price table; without --out, one model's is printed")
    .option(...FROM)
    .option("--provider <name>", "models of this provider only, like openai, anthropic, google")
    .option("--model <name>", "this model only")
    .option("--markup <factor>", "what a customer pays for each dollar of the table, like 1.2", "1")
    .option("--as <name>", "the provider's name in your configuration (else the table's)")
    .option("--region <name>", "the region of the routes", "global")
    .option("--release <number>", "the version of the releases", "1")
    .option("--image-tokens <number>", "offer images if the table does, and hold this many tokens for each")
    .option("--file-tokens <number>", "offer PDFs if the table does, and hold this many tokens for each")
    .option("--file-pages <number>", "maximum pages of a PDF")
    .option("--out <dir>", "the directory for the manifests")
    .option("--force", "replace existing manifests")
    .action((options: ImportOptions, command: Command) =>
      report(command, () =>
        importModels(options).catch((error: unknown) => Promise.reject(asProblem(error))),
      ),
    );
}

async function importModels(options: ImportOptions): Promise<Outcome> {
  const { findEntries } = await import("../src/releases/catalogue/find.ts");
  const prices = await openedTable(options.from);
  const found = findEntries(prices, options);
  const markup = await markupOf(options.markup);
  const terms = {
    markup,
    provider: options.as,
    region: options.region,
    version: wholeNumber("--release", options.release),
    imageTokensMax:
      options.imageTokens === undefined ? null : wholeNumber("--image-tokens", options.imageTokens),
    files: filesOf(options),
    source: `${prices.source}, ${prices.date}`,
  };
  const skipped = prices.skipped.filter(
    ({ provider }) => options.model === undefined && (options.provider ?? provider) === provider,
  );
  const proposals = await proposed(found, terms, skipped);
  sayOf(skipped);
  const about = { source: prices.source, date: prices.date, markup: options.markup, skipped };
  if (options.out !== undefined)
    return written(proposals, options.out, { force: options.force === true, about });
  const [only, ...others] = proposals;
  if (only === undefined)
    throw new Problem("No manifest could be made.", "See the lines above for the reasons.");
  if (others.length > 0)
    throw new Problem(
      `That is ${proposals.length} models.`,
      "Name a directory with --out, or one model with --model (and --provider).",
    );
  return { json: JSON.stringify({ ...about, ...only }), text: only.yaml.trimEnd() };
}

/** One figure means nothing without the other. */
function filesOf({ fileTokens, filePages }: ImportOptions): { tokens: number; pages: number } | null {
  if (fileTokens === undefined && filePages === undefined) return null;
  if (fileTokens === undefined || filePages === undefined)
    throw new WrongUsage(
      "--file-tokens and --file-pages belong together.",
      "Give both: the most tokens that a PDF costs, and the most pages that it has.",
    );
  return {
    tokens: wholeNumber("--file-tokens", fileTokens),
    pages: wholeNumber("--file-pages", filePages),
  };
}

async function openedTable(from: string | undefined): Promise<PriceTable> {
  const { openTable } = await import("../src/releases/catalogue/table.ts");
  const prices = await openTable(from, Date.now());
  say(`Prices of ${prices.source}, ${prices.date}: ${prices.entries.length} chat models.`);
  return prices;
}

const MARKUP_MAX = 1000n;

async function markupOf(text: string): Promise<Decimal> {
  const { compareDecimals, exactly, isZero, readDecimal } = await import(
    "../src/releases/catalogue/decimal.ts"
  );
  const markup = readDecimal(text);
  if (markup === null || isZero(markup) || compareDecimals(markup, exactly(MARKUP_MAX)) > 0)
    throw new WrongUsage(
      `--markup ${text} is not a factor above 0 and at most ${MARKUP_MAX}.`,
      "1.2 adds a fifth to each price of the table.",
    );
  return markup;
}

function wholeNumber(option: string, text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new WrongUsage(`${option} ${text} is not a whole number of 1 or more.`, "Give one like 3.");
}

type Terms = Parameters<typeof import("../src/releases/catalogue/proposal.ts").propose>[1];

/** Entries that cannot be proposed are added to those that the table's reader left out. */
async function proposed(
  found: readonly TableEntry[],
  terms: Terms,
  skipped: PriceTable["skipped"][number][],
): Promise<(Proposal & { file: string })[]> {
  const { fileNameOf, propose } = await import("../src/releases/catalogue/proposal.ts");
  const { Damaged } = await import("../src/releases/catalogue/entry.ts");
  const taken = new Set<string>();
  return found.flatMap((entry) => {
    try {
      const proposal = propose(entry, terms);
      const file = fileNameOf(proposal.manifest);
      if (taken.has(file.toLowerCase()))
        throw new Damaged(`its file name would be that of another model, ${file}`);
      taken.add(file.toLowerCase());
      return [{ ...proposal, file }];
    } catch (error) {
      if (!(error instanceof Damaged)) throw error;
      skipped.push({ provider: entry.provider, name: entry.listedAs, reason: error.message });
      return [];
    }
  });
}

const SAID_MAX = 10;

function sayOf(skipped: PriceTable["skipped"]): void {
  for (const { name, reason } of skipped.slice(0, SAID_MAX)) say(`Left out: ${name}: ${reason}`);
  if (skipped.length > SAID_MAX) say(`… and ${skipped.length - SAID_MAX} more; --json lists them.`);
}

function written(
  proposals: readonly (Proposal & { file: string })[],
  folder: string,
  { force, about }: { force: boolean; about: object },
): Outcome {
  const done = keepFiles(
    folder,
    proposals.map(({ file, yaml }) => ({ name: file, text: yaml })),
    { force },
  );
  const lines = [
    ...done.written.map((path) => `written    ${path}`),
    ...done.replaced.map((path) => `replaced   ${path}`),
    ...done.unchanged.map((path) => `unchanged  ${path}`),
    ...done.kept.map((path) => `KEPT       ${path}: it exists with other content; --force replaces it`),
    `${counted(done.written.length + done.replaced.length, "manifest")} written to ${folder}. Review them, then: ${OWN_NAME} release sign FILE --key release.private.jwk`,
  ];
  const exitCode = done.kept.length > 0 || proposals.length === 0 ? 1 : 0;
  return { json: JSON.stringify({ ...about, ...done }), text: lines.join("\n"), exitCode };
}

interface DiffOptions {
  from?: string;
  markup: string;
  map: string[];
}

function addDiff(models: Command): void {
  models
    .command("diff")
    .description("compare a price table with the live releases; exit code 1 if a price differs")
    .option(...FROM)
    .option("--markup <factor>", "your intended markup", "1")
    .option(
      "--map <name=provider>",
      "a provider of your configuration, and what the table calls it; repeatable",
      (pair: string, pairs: string[]) => [...pairs, pair],
      [],
    )
    .action((options: DiffOptions, command: Command) =>
      report(command, (context) =>
        diffModels(options, context).catch((error: unknown) => Promise.reject(asProblem(error))),
      ),
    );
}

async function diffModels(options: DiffOptions, context: Context): Promise<Outcome> {
  const gateway = await context.gateway();
  const { differences, isReadable } = await import("../src/releases/catalogue/difference.ts");
  const { value } = await everyPage(gateway.call, "GET /admin/v1/releases", {});
  const prices = await openedTable(options.from);
  const live = value.data.filter(isReadable);
  const damaged = value.data.filter((release) => !isReadable(release)).map(({ route }) => plain(route));
  const terms = { markup: await markupOf(options.markup), providers: new Map(options.map.map(pairOf)) };
  const uses = new Map<string, ModelUseJson>();
  const routes: (RouteDifference & { use: ModelUseJson | null })[] = [];
  for (const one of differences(prices, live, terms)) {
    const { model } = one;
    const use = NOTEWORTHY.has(one.status)
      ? (uses.get(model) ?? (await gateway.call("GET /admin/v1/models/use", { model })).value)
      : null;
    if (use !== null) uses.set(model, use);
    routes.push({ ...one, use });
  }
  const about = { source: prices.source, date: prices.date, markup: options.markup };
  return {
    json: JSON.stringify({ ...about, routes }),
    text: [
      ...routes.filter(({ status }) => NOTEWORTHY.has(status)).map(printed),
      summary(routes),
      ...(damaged.length > 0 ? [`Damaged in the store, not compared: ${damaged.join(", ")}`] : []),
    ].join("\n\n"),
    exitCode: routes.some(({ status }) => NOTEWORTHY.has(status)) ? 1 : 0,
  };
}

/** Differences that somebody has to look at. */
const NOTEWORTHY: ReadonlySet<RouteDifference["status"]> = new Set(["changed", "vanished", "ambiguous"]);

function pairOf(pair: string): [string, string] {
  const [name, provider, ...rest] = pair.split("=");
  if (name && provider && rest.length === 0) return [name, provider];
  throw new WrongUsage(`--map ${pair} is not a pair.`, "Write it like --map acme=openai.");
}

const COLUMNS = {
  PRICE: ({ price, above_prompt_tokens: above }: MarkedLine) =>
    above === null ? price : `${price} above ${above}`,
  LIVE: ({ before }: MarkedLine) => before,
  TABLE: ({ after }: MarkedLine) => after,
  CHANGE: ({ percent }: MarkedLine) => (percent === null || percent === "0.0" ? "" : `${percent} %`),
  "MARKUP TODAY": ({ markup }: MarkedLine) => markup,
};

function printed({ use, ...one }: RouteDifference & { use: ModelUseJson | null }): string {
  const heading = `${plain(one.route)} version ${one.version} (${one.state}): ${WORDS[one.status](one.listed_as.map(plain).join(", "))}`;
  const users = use?.data.map(({ name, requests }) => `${plain(name)} ${requests}`).join(", ") ?? "";
  return [
    heading,
    ...(one.prices.length > 0 ? [table(one.prices, COLUMNS)] : []),
    ...one.offers.map(({ field, before, after }) => `${field}: ${before} here, ${after} in the table`),
    use === null || use.organizations === 0
      ? "Nobody used the model in the last 30 days."
      : `Used in the last 30 days by ${counted(use.organizations, "organization")}, ${counted(use.requests, "request")}: ${users}`,
  ].join("\n");
}

const WORDS: Record<RouteDifference["status"], (listed: string) => string> = {
  same: () => "as in the table",
  changed: (listed) => `differs from ${listed}`,
  vanished: () => "the table no longer has this model of this provider",
  ambiguous: (listed) => `several providers have it (${listed}): choose one with --map`,
  unlisted: () => "not in this table",
};

function summary(routes: readonly RouteDifference[]): string {
  const counts = Map.groupBy(routes, ({ status }) => status);
  const unlisted = counts.get("unlisted") ?? [];
  return [
    `${counted(routes.length, "route")}: ${["same", "changed", "vanished", "ambiguous", "unlisted"]
      .map((status) => `${counts.get(status as RouteDifference["status"])?.length ?? 0} ${status}`)
      .join(", ")}.`,
    ...(unlisted.length > 0
      ? [`Not in this table: ${unlisted.map(({ route }) => plain(route)).join(", ")}`]
      : []),
  ].join("\n");
}
