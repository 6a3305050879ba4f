// How commands print: with `--json` exactly one JSON document on stdout, otherwise text for people; everything else
// goes to stderr. Exit codes: 0 done, 1 refused or failed (interfaces.md §2).
import type { Command } from "commander";
import { asCalledHere } from "../src/domain/own-name.ts";
import { type DoorOptions, findDoor, type Gateway, openGateway } from "./gateway.ts";
import { Problem, WrongUsage } from "./problem.ts";

export interface GlobalOptions extends DoorOptions {
  json?: boolean;
}

/** The result of a command. */
export interface Outcome {
  /** The JSON document, as text. */
  json: string;
  /** The same for people; a function if it is built from a gateway's answer, which may be of another version. */
  text: string | (() => string | Promise<string>);
  exitCode?: 0 | 1;
}

export interface Context {
  options: GlobalOptions;
  gateway(): Promise<Gateway>;
  /** True if questions may be asked: stdin and stdout are terminals, and `--json` is not given. */
  interactive: boolean;
}

/** Runs a command's work and prints its outcome. */
export async function report(command: Command, work: (context: Context) => Promise<Outcome>): Promise<void> {
  const options = command.optsWithGlobals<GlobalOptions>();
  const interactive = process.stdin.isTTY && process.stdout.isTTY && options.json !== true;
  let changed = false;
  const gateway = async (): Promise<Gateway> => {
    const taken = command.options.flatMap(({ long }) => long ?? []);
    const opened = openGateway(await findDoor(options), taken);
    return {
      call: (target, input) => {
        changed ||= !target.startsWith("GET ");
        return opened.call(target, input);
      },
    };
  };
  const outcome = await work({ options, gateway, interactive });
  process.stdout.write(`${options.json === true ? outcome.json : await textOf(outcome, changed)}\n`);
  if (outcome.exitCode !== undefined) process.exitCode = outcome.exitCode;
}

const OTHER_VERSION = "a gateway of another version than this command line, whose response it cannot print";

/**
 * The answer may lack a field that the text prints. A reading command then fails. A command that has changed
 * something prints the raw answer: the change is made, and a secret in the answer is shown only this once.
 */
async function textOf({ json, text }: Outcome, changed: boolean): Promise<string> {
  if (typeof text === "string") return text;
  try {
    return await text();
  } catch (error) {
    if (error instanceof Problem) throw error;
    if (!changed)
      throw new Problem(
        `This is ${OTHER_VERSION}.`,
        "Use the command line of its version, or --json, which prints responses unchanged.",
      );
    say(`Done, by ${OTHER_VERSION}. This is the whole response, unchanged:`);
    return json;
  }
}

/** The option `--watch` and its description; the second value is its default. */
export const WATCH = ["--watch [seconds]", "print it again at this interval, until Ctrl-C"] as const;
const WATCH_SECONDS = 2;

/** Runs `report`, with `--watch` again and again. */
export async function reportWatched(
  command: Command,
  watch: string | boolean | undefined,
  work: (context: Context) => Promise<Outcome>,
): Promise<void> {
  if (watch === undefined) return await report(command, work);
  const seconds = watch === true ? WATCH_SECONDS : Number(watch);
  if (!(seconds >= 0.1 && seconds <= 86_400))
    throw new WrongUsage(
      `--watch ${watch} is not a number of seconds.`,
      "Give one from 0.1 to 86400, or none.",
    );
  notWithJson(command, "--watch");
  for (;;) {
    if (process.stdout.isTTY) process.stdout.write("\u001b[2J\u001b[H");
    await report(command, work);
    await Bun.sleep(seconds * 1000);
  }
}

/** A continuous listing is not one document. */
export function notWithJson(command: Command, what: string): void {
  if (command.optsWithGlobals<GlobalOptions>().json === true)
    throw new WrongUsage(`${what} and --json cannot be combined.`, "Leave out one of them.");
}

/** Prints a line that is no result to stderr, so that stdout stays one document. */
export function say(line: string): void {
  process.stderr.write(`${asCalledHere(line)}\n`);
}
