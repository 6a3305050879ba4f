// How a command speaks: `--json` prints exactly one JSON document on stdout, otherwise text for people goes there;
// everything else goes to stderr. Exit codes: 0 done, 1 refused or failed (interfaces.md §2).
import type { Command } from "commander";
import { type DoorOptions, findDoor, type Gateway, openGateway } from "./gateway.ts";

export interface GlobalOptions extends DoorOptions {
  json?: boolean;
}

/** What a command has to say. */
export interface Outcome {
  /** The JSON document, as text. */
  json: string;
  /** The same for people. */
  text: string;
  exitCode?: 0 | 1;
}

export interface Context {
  options: GlobalOptions;
  gateway(): Promise<Gateway>;
  /** Whether questions may be asked: a terminal on both sides, and nobody reads JSON. */
  interactive: boolean;
}

/** Runs a command's work and prints its outcome. */
export async function report(command: Command, work: (context: Context) => Promise<Outcome>): Promise<void> {
  const options = command.optsWithGlobals<GlobalOptions>();
  const interactive = process.stdin.isTTY && process.stdout.isTTY && options.json !== true;
  const gateway = async (): Promise<Gateway> => openGateway(await findDoor(options));
  const outcome = await work({ options, gateway, interactive });
  process.stdout.write(`${options.json === true ? outcome.json : outcome.text}\n`);
  if (outcome.exitCode !== undefined) process.exitCode = outcome.exitCode;
}

/** A line for people that is no result: it goes to stderr, so that stdout stays one document. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
