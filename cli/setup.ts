// `setup opencode|claude-code|codex`: points a coding agent at the gateway, where it speaks chat completions. The change is
// shown first; nothing is written without a yes.
import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import type { Command } from "commander";
import { difference } from "./difference.ts";
import { gatewayAddress, getModels } from "./gateway.ts";
import { entryAlone, merged, PROVIDER, type Wanted } from "./opencode.ts";
import { Problem } from "./problem.ts";
import { type Context, type Outcome, report, say } from "./report.ts";

interface SetupOptions {
  file?: string;
  keyEnv: string;
  dryRun?: boolean;
  yes?: boolean;
}

const ELSEWHERE =
  "./tollgate setup opencode sets up an agent that speaks them; docs/clients.md names libraries.";
/** Agents that cannot be served, by what they speak. */
const OTHERS = {
  "claude-code": "Claude Code speaks the Anthropic Messages API",
  codex: "Codex speaks the OpenAI Responses API",
};

export function addSetup(program: Command): void {
  const setup = program.command("setup").description("point a coding agent at this gateway");
  setup
    .command("opencode")
    .description("add this gateway to opencode's configuration; shows the change and asks first")
    .option("--file <file>", "the configuration (OPENCODE_CONFIG; else opencode.json in ~/.config/opencode)")
    .option("--key-env <name>", "the environment variable that holds the API key, gw_sk_…", "TOLLGATE_KEY")
    .option("--dry-run", "only show the change")
    .option("--yes", "do not ask")
    .action((options: SetupOptions, command: Command) =>
      report(command, (context) => setUpOpencode(context, options)),
    );
  for (const [agent, speaks] of Object.entries(OTHERS))
    setup
      .command(agent)
      .description("says why it cannot be, and what can")
      .option("--dry-run", "the same")
      .action((_: object, command: Command) =>
        report(command, () => {
          throw new Problem(`${speaks}; this gateway serves chat completions.`, ELSEWHERE);
        }),
      );
}

async function setUpOpencode(context: Context, options: SetupOptions): Promise<Outcome> {
  const wanted = await wantedOf(context, options.keyEnv);
  const file = fileOf(options.file);
  const before = existsSync(file) ? readFileSync(file, "utf8") : "";
  const after = merged(before, wanted);
  if (after === null)
    throw new Problem(
      `${file} is not plain JSON (comments, commas at the end, a key twice): writing it anew would lose something.`,
      `Paste this into it by hand, beside what is in "provider":\n${entryAlone(wanted)}`,
    );
  const told = (written: boolean): string =>
    JSON.stringify({ file, provider: PROVIDER, models: wanted.models.map(({ id }) => id), written });
  if (after === before) return { json: told(false), text: `${file} is as it should be.` };
  say(`${file}\n${difference(before, after)}\n`);
  if (options.dryRun === true) return { json: told(false), text: "Nothing was written." };
  await ask(context, options.yes);
  write(file, after);
  return { json: told(true), text: `Written. opencode calls its models ${PROVIDER}/….` };
}

/** The models that the key may use, asked with it: what is written is known to work. */
async function wantedOf({ options }: Context, keyName: string): Promise<Wanted> {
  if (!/^[A-Za-z_]\w*$/.test(keyName))
    throw new Problem(`${keyName} is no name of an environment variable.`, "Give one like TOLLGATE_KEY.");
  const key = process.env[keyName];
  if (key === undefined || key === "")
    throw new Problem(
      `${keyName} is not set: opencode would have no key, and its models cannot be asked for.`,
      `Make a key on the Keys page or with ./tollgate keys create, then export ${keyName}=gw_sk_….`,
    );
  const address = await gatewayAddress(options);
  return { baseUrl: `${address}/v1`, keyName, models: await getModels(address, key) };
}

/** The one that opencode reads last of those for all projects. */
function fileOf(named: string | undefined): string {
  const given = named ?? process.env["OPENCODE_CONFIG"];
  if (given !== undefined && given !== "") return existsSync(given) ? realpathSync(given) : given;
  const config = process.env["XDG_CONFIG_HOME"] ?? "";
  const home = isAbsolute(config) ? config : join(process.env["HOME"] ?? homedir(), ".config");
  const [withComments, plain] = ["opencode.jsonc", "opencode.json"].map((name) =>
    join(home, "opencode", name),
  );
  const found = [withComments, plain].find((file) => file !== undefined && existsSync(file));
  return found === undefined ? (plain ?? "") : realpathSync(found);
}

async function ask({ interactive }: Context, yes: boolean | undefined): Promise<void> {
  if (yes === true) return;
  if (!interactive)
    throw new Problem("Nothing was written: nobody is there to ask.", "Add --yes, or --dry-run.");
  const { confirm } = await import("@clack/prompts");
  if ((await confirm({ message: "Write this?", initialValue: false, output: process.stderr })) === true)
    return;
  throw new Problem("Nothing was written.", "Answer yes when asked, or paste what you want by hand.");
}

/** A new file, renamed into place, with the mode of the old one. */
function write(file: string, text: string): void {
  const mode = existsSync(file) ? statSync(file).mode & 0o777 : 0o600;
  mkdirSync(dirname(file), { recursive: true });
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, text, { mode });
  renameSync(fresh, file);
}
