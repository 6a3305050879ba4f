#!/usr/bin/env bun
// The command line (interfaces.md §2): noun–verb commands, each noun in its own file. Exit codes: 0 done, 1 refused or
// failed, 2 wrong usage. Rooms of the gateway are loaded only by the commands that run without one.
import { Command, CommanderError } from "commander";
import { VERSION } from "../src/domain/program.ts";
import { addCompletion } from "./completion.ts";
import { addCredits } from "./credits.ts";
import { addDb } from "./db.ts";
import { addDoctor } from "./doctor.ts";
import { addEntitlement } from "./entitlement.ts";
import { addKeys } from "./keys.ts";
import { addLedger } from "./ledger.ts";
import { addLimits } from "./limits.ts";
import { addLogin, addLogout } from "./login.ts";
import { addModels } from "./models.ts";
import { addOrg } from "./org.ts";
import { addPayments } from "./payments.ts";
import { Problem, WrongUsage } from "./problem.ts";
import { addPeople } from "./people.ts";
import { addProvider } from "./provider.ts";
import { addReady } from "./ready.ts";
import { addReceipt } from "./receipt.ts";
import { addRelease } from "./release.ts";
import { addRequest } from "./request.ts";
import { addRoute } from "./route.ts";
import { addSeed } from "./seed.ts";
import { addServe } from "./serve.ts";
import { addSetup } from "./setup.ts";
import { addSimulator } from "./simulator.ts";
import { addStatement } from "./statement.ts";
import { addUsage } from "./usage.ts";
import { say } from "./report.ts";

const NOUNS = [
  addServe,
  addSimulator,
  addDoctor,
  addReady,
  addProvider,
  addLogin,
  addLogout,
  addOrg,
  addCredits,
  addPayments,
  addKeys,
  addLimits,
  addEntitlement,
  addModels,
  addRelease,
  addRoute,
  addUsage,
  addRequest,
  addReceipt,
  addStatement,
  addLedger,
  addPeople,
  addSetup,
  addDb,
  addSeed,
  addCompletion,
];

function buildProgram(json: boolean): Command {
  const program = new Command("tollgate")
    .description("A metered gateway in front of model providers.")
    .option("--json", "print exactly one JSON document on stdout")
    .option(
      "--url <url>",
      "the gateway's address (TOLLGATE_URL; else operator.json in the data directory; else the one you logged in at)",
    )
    .option(
      "--token <key>",
      "a management key, gw_mk_… (TOLLGATE_TOKEN; else operator.json; else that of ./tollgate login)",
    )
    .option(
      "--data-dir <dir>",
      "the data directory (TOLLGATE_DATA_DIR; else that of tollgate.yaml; else ./data)",
    )
    .version(
      json ? JSON.stringify({ version: VERSION }) : VERSION,
      "-V, --version",
      "print the version of this program",
    )
    .configureHelp({ showGlobalOptions: true })
    .exitOverride();
  for (const add of NOUNS) add(program);
  return program;
}

/** Runs one command; returns its exit code. */
async function run(argv: string[]): Promise<number> {
  const json = argv.includes("--json");
  try {
    await buildProgram(json).parseAsync(argv, { from: "user" });
    return Number(process.exitCode ?? 0);
  } catch (error) {
    if (error instanceof CommanderError) return usageExit(error, json);
    const problem = error instanceof Problem ? error : unexpected(error);
    if (json) process.stdout.write(`${problem.json()}\n`);
    say(`${problem.message}\n→ ${problem.next}`);
    return problem instanceof WrongUsage ? 2 : 1;
  }
}

function usageExit(error: CommanderError, json: boolean): number {
  if (error.exitCode === 0) return 0;
  const message = error.message.replace(/^error: /, "");
  const next = "./tollgate help lists the commands; add --help to one for its options.";
  if (json) process.stdout.write(`${new WrongUsage(message, next).json()}\n`);
  say(`→ ${next}`);
  return 2;
}

function unexpected(error: unknown): Problem {
  const message = error instanceof Error ? error.message : String(error);
  return new Problem(message, "If this is not clear, run ./tollgate doctor.");
}

process.exitCode = await run(process.argv.slice(2));
