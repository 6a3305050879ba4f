// All commands with their options, each noun in its own file (interfaces.md §2). Only the commands that run without a
// gateway load rooms of the gateway.
import type { Command } from "commander";
import { VERSION } from "../src/domain/program.ts";
import { asCalledHere } from "../src/domain/own-name.ts";
import { addAlerts } from "./alerts.ts";
import { addChannels } from "./channels.ts";
import { OwnCommand } from "./command.ts";
import { addCompletion } from "./completion.ts";
import { addCredits } from "./credits.ts";
import { addDb } from "./db.ts";
import { addDoctor } from "./doctor.ts";
import { addEntitlement } from "./entitlement.ts";
import { addInvitations } from "./invitations.ts";
import { addKeys } from "./keys.ts";
import { addLedger } from "./ledger.ts";
import { addLimits } from "./limits.ts";
import { addLogin, addLogout } from "./login.ts";
import { addModels } from "./models.ts";
import { addMembers } from "./members.ts";
import { addOrg } from "./org.ts";
import { addPayments } from "./payments.ts";
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

const NOUNS = [
  addServe,
  addSimulator,
  addDoctor,
  addReady,
  addProvider,
  addLogin,
  addLogout,
  addOrg,
  addMembers,
  addInvitations,
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
  addAlerts,
  addChannels,
  addLedger,
  addPeople,
  addSetup,
  addDb,
  addSeed,
  addCompletion,
];

/** The command line, not yet run. `json` sets how it prints its version. */
export function buildProgram(json: boolean): Command {
  const program = new OwnCommand("tollgate")
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
    .configureOutput({
      writeOut: (text) => void process.stdout.write(asCalledHere(text)),
      writeErr: (text) => void process.stderr.write(asCalledHere(text)),
    })
    .exitOverride();
  for (const add of NOUNS) add(program);
  return program;
}
