// `setup opencode|codex|claude-code`: points a coding agent at the gateway. It shows the change first, writes nothing
// without a yes, and keeps a copy of the old file beside the new one.
import {
  copyFileSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import type { Command } from "commander";
import type { Agent, ListedModel, Wanted } from "./agents/agent.ts";
import { claudeCode } from "./agents/claude-code.ts";
import { codex } from "./agents/codex.ts";
import { opencode } from "./agents/opencode.ts";
import { difference } from "./difference.ts";
import { gatewayAddress, getModels } from "./gateway.ts";
import { Problem, WrongUsage } from "./problem.ts";
import { type Context, type Outcome, report, say } from "./report.ts";

interface SetupOptions {
  file?: string;
  keyEnv: string;
  model?: string;
  dryRun?: boolean;
  yes?: boolean;
}

const AGENTS: readonly Agent[] = [opencode, codex, claudeCode];

export function addSetup(program: Command): void {
  const setup = program.command("setup").description("point a coding agent at this gateway");
  for (const agent of AGENTS) {
    const command = setup
      .command(agent.name)
      .description(agent.description)
      .option("--file <file>", `the configuration (${agent.where})`)
      .option("--key-env <name>", "the environment variable that holds the API key, gw_sk_…", "TOLLGATE_KEY");
    if (agent.oneModel)
      command.option("--model <name>", "the model to start with (default: the first with tools)");
    command
      .option("--dry-run", "only show the change")
      .option("--yes", "do not ask")
      .action((options: SetupOptions, self: Command) =>
        report(self, (context) => setUp(agent, context, options)),
      );
  }
}

async function setUp(agent: Agent, context: Context, options: SetupOptions): Promise<Outcome> {
  const wanted = await wantedOf(agent, context, options);
  const file = realFile(options.file ?? agent.file(process.env));
  const before = existsSync(file) ? readFileSync(file, "utf8") : "";
  const after = agent.merged(before, wanted);
  if (after === null)
    throw new Problem(
      `${file} contains something that rewriting it would lose: comments, your own settings, or a duplicate key.`,
      `Paste this into it, ${agent.place}:\n${agent.alone(wanted)}`,
    );
  const told = (written: boolean, kept: string | null = null): string =>
    JSON.stringify({ file, models: wanted.models.map(({ id }) => id), written, kept });
  if (after === before) return { json: told(false), text: `${file} is up to date. ${agent.start(file)}` };
  say(`${file}\n${difference(before, after)}\n`);
  if (options.dryRun === true) return { json: told(false), text: "Nothing was written." };
  await ask(context, options.yes);
  const kept = before === "" ? null : keep(file);
  write(file, after);
  const where = kept === null ? "" : ` The previous file is kept as ${kept}.`;
  return { json: told(true, kept), text: `Written.${where} ${agent.start(file)}` };
}

/** The models that the key may use, fetched with that key: what is written is known to work. */
async function wantedOf(
  agent: Agent,
  context: Context,
  { keyEnv: keyName, model }: SetupOptions,
): Promise<Wanted> {
  if (!/^[A-Za-z_]\w*$/.test(keyName))
    throw new WrongUsage(
      `${keyName} is not the name of an environment variable.`,
      "Give one like TOLLGATE_KEY.",
    );
  const key = process.env[keyName];
  if (key === undefined || key === "")
    throw new Problem(
      `${keyName} is not set: ${agent.name} would have no key, and its models cannot be listed.`,
      `Create a key on the Keys page or with ./tollgate keys create, then export ${keyName}=gw_sk_….`,
    );
  const url = await gatewayAddress(context.options);
  const offered = (await getModels(url, key)).filter(givesWords);
  const [first, ...others] = agent.oneModel ? [begunWith(offered, model)] : offered;
  if (first === undefined)
    throw new Problem("This key may not use any model yet.", "Publish a release, or ask for an entitlement.");
  return { url, keyName, models: [first, ...others] };
}

/** An embedding model is not a model to chat with. */
const givesWords = ({ max_output_tokens: most }: ListedModel): boolean => most > 0;

/** The named model, else the first that an agent can work with. */
function begunWith(offered: readonly ListedModel[], named: string | undefined): ListedModel {
  const able = offered.filter(({ capabilities }) => capabilities.tools);
  const found = able.find(({ id }) => named === undefined || id === named);
  if (found !== undefined) return found;
  throw new Problem(
    named === undefined
      ? "This key may not use any model with tools, which an agent needs."
      : `This key may not use a model ${named} with tools.`,
    `Those with tools: ${able.map(({ id }) => id).join(", ") || "none"}.`,
  );
}

const realFile = (file: string): string => (existsSync(file) ? realpathSync(file) : file);

async function ask({ interactive }: Context, yes: boolean | undefined): Promise<void> {
  if (yes === true) return;
  if (!interactive)
    throw new Problem(
      "Nothing was written: this terminal is not interactive, so it cannot ask.",
      "Add --yes, or --dry-run.",
    );
  const { confirm } = await import("@clack/prompts");
  if ((await confirm({ message: "Write this?", initialValue: false, output: process.stderr })) === true)
    return;
  throw new Problem("Nothing was written.", "Answer yes when asked, or paste what you want by hand.");
}

/** Copies the file to a name that is still free. */
function keep(file: string): string {
  for (let number = 1; ; number += 1) {
    const copy = `${file}.before-${number}`;
    if (existsSync(copy)) continue;
    copyFileSync(file, copy, constants.COPYFILE_EXCL);
    return copy;
  }
}

/** Writes a new file with the mode of the old one and renames it into place. */
function write(file: string, text: string): void {
  const mode = existsSync(file) ? statSync(file).mode & 0o777 : 0o600;
  mkdirSync(dirname(file), { recursive: true });
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, text, { mode, flush: true });
  renameSync(fresh, file);
}
