// `models import|diff`: prices that providers publish, from a table of them (docs/design/providers.md §5). `import` works
// without a gateway and writes unsigned manifests; nothing here changes what is served.
import { lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import type { Decimal } from "../src/releases/catalogue/decimal.ts";
import type { TableEntry } from "../src/releases/catalogue/entry.ts";
import type { Proposal } from "../src/releases/catalogue/proposal.ts";
import type { PriceTable } from "../src/releases/catalogue/table.ts";
import { asProblem, Problem } from "./problem.ts";
import { type Outcome, report, say } from "./report.ts";

export function addModels(program: Command): void {
  const models = program.command("models").description("prices that providers publish, proposed as releases");
  addImport(models);
}

const FROM = [
  "--from <table>",
  "models.dev, litellm, an https address or a file (else what ships with this program)",
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
  out?: string;
  force?: boolean;
}

function addImport(models: Command): void {
  models
    .command("import")
    .description("write unsigned manifests from a price table; without --out one model's is printed")
    .option(...FROM)
    .option("--provider <name>", "models of this provider only, like openai, anthropic, google")
    .option("--model <name>", "this model only")
    .option("--markup <factor>", "what a customer pays for each dollar of the table, like 1.2", "1")
    .option("--as <name>", "the provider's name in your configuration (else the table's)")
    .option("--region <name>", "the region of the routes", "global")
    .option("--release <number>", "the version of the releases", "1")
    .option("--image-tokens <number>", "offer images where the table does, each priced at so many tokens")
    .option("--out <dir>", "the directory for the manifests")
    .option("--force", "replace manifests that are there already")
    .action((options: ImportOptions, command: Command) =>
      report(command, () =>
        importModels(options).catch((error: unknown) => Promise.reject(asProblem(error))),
      ),
    );
}

async function importModels(options: ImportOptions): Promise<Outcome> {
  const { findEntries } = await import("../src/releases/catalogue/find.ts");
  const table = await openedTable(options.from);
  const found = findEntries(table, options);
  const markup = await markupOf(options.markup);
  const terms = {
    markup,
    provider: options.as,
    region: options.region,
    version: wholeNumber("--release", options.release),
    imageTokensMax:
      options.imageTokens === undefined ? null : wholeNumber("--image-tokens", options.imageTokens),
    source: `${table.source}, ${table.date}`,
  };
  const skipped = table.skipped.filter(
    ({ provider }) => options.model === undefined && (options.provider ?? provider) === provider,
  );
  const proposals = await proposed(found, terms, skipped);
  sayOf(skipped);
  const about = { source: table.source, date: table.date, markup: options.markup, skipped };
  if (options.out !== undefined)
    return written(proposals, options.out, { force: options.force === true, about });
  const [only, ...others] = proposals;
  if (only === undefined) throw new Problem("No manifest could be made.", "The lines above say why.");
  if (others.length > 0)
    throw new Problem(
      `That is ${proposals.length} models.`,
      "Name a directory with --out, or one model with --model (and --provider).",
    );
  return { json: JSON.stringify({ ...about, ...only }), text: only.yaml.trimEnd() };
}

async function openedTable(from: string | undefined): Promise<PriceTable> {
  const { openTable } = await import("../src/releases/catalogue/table.ts");
  const table = await openTable(from, Date.now());
  say(`Prices of ${table.source}, ${table.date}: ${table.entries.length} chat models.`);
  return table;
}

const MARKUP_MAX = 1000n;

async function markupOf(text: string): Promise<Decimal> {
  const { compareDecimals, exactly, isZero, readDecimal } = await import(
    "../src/releases/catalogue/decimal.ts"
  );
  const markup = readDecimal(text);
  if (markup === null || isZero(markup) || compareDecimals(markup, exactly(MARKUP_MAX)) > 0)
    throw new Problem(
      `--markup ${text} is no factor above 0 and at most ${MARKUP_MAX}.`,
      "1.2 adds a fifth to each price of the table.",
    );
  return markup;
}

function wholeNumber(option: string, text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new Problem(`${option} ${text} is no whole number from 1.`, "Give one like 3.");
}

type Terms = Parameters<typeof import("../src/releases/catalogue/proposal.ts").propose>[1];

/** What cannot be proposed joins what the table's reader left out. */
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
        throw new Damaged(`its file would be that of another model, ${file}`);
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

interface WriteTerms {
  force: boolean;
  about: object;
}

/** A file that is there stays as it is, unless it is to be replaced; links are not followed. */
function written(
  proposals: readonly (Proposal & { file: string })[],
  folder: string,
  { force, about }: WriteTerms,
): Outcome {
  if (proposals.length > 0) mkdirSync(folder, { recursive: true });
  const done = {
    written: [] as string[],
    unchanged: [] as string[],
    replaced: [] as string[],
    kept: [] as string[],
  };
  for (const { file, yaml } of proposals) {
    const path = join(folder, file);
    const there = contentOf(path);
    if (there === yaml) done.unchanged.push(path);
    else if (there !== null && !force) done.kept.push(path);
    else {
      rmSync(path, { force: true });
      writeFileSync(path, yaml, { flag: "wx" });
      (there === null ? done.written : done.replaced).push(path);
    }
  }
  const lines = [
    ...done.written.map((path) => `written    ${path}`),
    ...done.replaced.map((path) => `replaced   ${path}`),
    ...done.unchanged.map((path) => `unchanged  ${path}`),
    ...done.kept.map((path) => `KEPT       ${path}: it says otherwise already; --force replaces it`),
    `${done.written.length + done.replaced.length} manifests written to ${folder}. Look at them, then: ./tollgate release sign FILE --key release.private.jwk`,
  ];
  const exitCode = done.kept.length > 0 || proposals.length === 0 ? 1 : 0;
  return { json: JSON.stringify({ ...about, ...done }), text: lines.join("\n"), exitCode };
}

/** Null where nothing is; a link or a folder is something else than any manifest. */
function contentOf(path: string): string | null {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return null;
  return found.isFile() ? readFileSync(path, "utf8") : "";
}
