// The base class of all our commands: the first line of the help names the required options, and the help ends with
// an example. A misspelt option is reported before the required option that is missing because of it.
import { Command, Help, type Option, type ParseOptionsResult } from "commander";
import { didYouMean } from "../src/domain/near-name.ts";
import { exampleOf } from "./examples.ts";

export class OwnCommand extends Command {
  override createCommand(name?: string): Command {
    return new OwnCommand(name);
  }

  override createHelp(): Help {
    return Object.assign(new OwnHelp(), this.configureHelp());
  }

  /**
   * An option is never taken for a value: with `--org $ORG --usd 5` and the variable unset, `--usd` names no
   * organization.
   */
  override parseOptions(argv: string[]): ParseOptionsResult {
    const known = optionsOf(this).flatMap(({ long }) => long ?? []);
    const end = argv.indexOf("--");
    argv.slice(0, end === -1 ? undefined : end).forEach((arg, at, args) => {
      const option = this.options.find(({ long, required }) => required && long === arg);
      if (option !== undefined && known.includes(args[at + 1] ?? ""))
        this.error(`error: option '${option.flags}' argument missing`, {
          code: "commander.optionMissingArgument",
        });
    });
    return super.parseOptions(argv);
  }

  /** Called by commander, which looks for unknown options only after this. */
  missingMandatoryOptionValue(option: Option): void {
    const known = optionsOf(this).flatMap(({ long, short }) => [long ?? "", short ?? ""]);
    const typed = typedOptions(rootOf(this).rawArgs).find((name) => !known.includes(name));
    if (typed !== undefined)
      this.error(`error: unknown option '${typed}'.${didYouMean(typed, known)}`, {
        code: "commander.unknownOption",
      });
    this.error(`error: required option '${option.flags}' not specified`, {
      code: "commander.missingMandatoryOptionValue",
    });
  }

  /** Called by commander for an unknown option. */
  unknownOption(flag: string): void {
    const known = optionsOf(this).flatMap(({ long }) => long ?? []);
    this.error(`error: unknown option '${flag}'.${didYouMean(flag, known)}`, {
      code: "commander.unknownOption",
    });
  }

  /** Called by commander for an unknown command. */
  unknownCommand(): void {
    const [typed = ""] = this.args;
    const hint = didYouMean(
      typed,
      this.commands.map((child) => child.name()),
    );
    this.error(`error: unknown command '${typed}'.${hint}`, { code: "commander.unknownCommand" });
  }
}

/** Names the help of the command that was typed, as far as its words are known: `./tollgate keys create --help …`. */
export function whereHelpIs(program: Command, argv: readonly string[]): string {
  const words: string[] = [];
  let command = program;
  for (const arg of argv) {
    const child = command.commands.find((one) => one.name() === arg);
    if (child === undefined) continue;
    command = child;
    words.push(arg);
  }
  if (words.length === 0) return "./tollgate help lists the commands; add --help to one for its options.";
  const has = command.commands.length > 0 ? "lists its commands" : "lists its options, with an example";
  return `./tollgate ${words.join(" ")} --help ${has}.`;
}

class OwnHelp extends Help {
  override commandUsage(command: Command): string {
    const needed = command.options.filter(({ mandatory }) => mandatory).map(({ flags }) => ` ${flags}`);
    return super.commandUsage(command).replace(" [options]", "") + needed.join("") + " [options]";
  }

  override optionDescription(option: Option): string {
    return `${super.optionDescription(option)}${option.mandatory ? " (required)" : ""}`;
  }

  override formatHelp(command: Command, helper: Help): string {
    return `${super.formatHelp(command, helper)}\nExample:\n  ./tollgate ${exampleOf(command)}\n`;
  }
}

/** The command's own options and those of all its parents. */
function optionsOf(command: Command): readonly Option[] {
  return [
    ...command.createHelp().visibleOptions(command),
    ...(command.parent ? optionsOf(command.parent) : []),
  ];
}

const rootOf = (command: Command): Command & { rawArgs: readonly string[] } =>
  command.parent === null ? (command as Command & { rawArgs: readonly string[] }) : rootOf(command.parent);

/** `--name` from `--name=value` and `--name value`; nothing after `--` is an option. */
function typedOptions(args: readonly string[]): string[] {
  const end = args.indexOf("--");
  return args
    .slice(0, end === -1 ? undefined : end)
    .filter((arg) => /^--[a-z]/i.test(arg))
    .map((arg) => arg.replace(/=.*$/s, ""));
}
