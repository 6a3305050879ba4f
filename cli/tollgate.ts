#!/usr/bin/env bun
// The command line (interfaces.md §2): noun–verb commands. Exit codes: 0 done, 1 refused or failed, 2 wrong usage.
import { CommanderError } from "commander";
import { messageOf } from "../src/domain/error-message.ts";
import { asCalledHere } from "../src/domain/own-name.ts";
import { Problem, WrongUsage } from "./problem.ts";
import { whereHelpIs } from "./command.ts";
import { buildProgram } from "./program.ts";
import { say } from "./report.ts";

/** Runs one command; returns its exit code. */
async function run(argv: string[]): Promise<number> {
  const json = argv.includes("--json");
  const program = buildProgram(json);
  try {
    await program.parseAsync(argv, { from: "user" });
    return Number(process.exitCode ?? 0);
  } catch (error) {
    if (error instanceof CommanderError) return usageExit(error, json, whereHelpIs(program, argv));
    const problem = error instanceof Problem ? error : unexpected(error);
    if (json) process.stdout.write(`${asCalledHere(problem.json())}\n`);
    say(`${problem.message}\n→ ${problem.next}`);
    return problem instanceof WrongUsage ? 2 : 1;
  }
}

/** `next`: what to do about wrong usage. */
function usageExit(error: CommanderError, json: boolean, next: string): number {
  if (error.exitCode === 0) return 0;
  // `tollgate` or `tollgate keys` alone: commander has already printed the help to stderr.
  const nothing = error.code === "commander.help";
  const message = nothing ? "No command was given." : error.message.replace(/^error: /, "");
  if (json) process.stdout.write(`${asCalledHere(new WrongUsage(message, next).json())}\n`);
  say(`→ ${next}`);
  return 2;
}

function unexpected(error: unknown): Problem {
  const message = messageOf(error);
  return new Problem(message, "If this is not clear, run ./tollgate doctor.");
}

process.exitCode = await run(process.argv.slice(2));
