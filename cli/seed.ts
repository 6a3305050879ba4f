// `seed` fills a new store with organizations that have a history, for designing, trying out or measuring on a full
// gateway.
import { resolve } from "node:path";
import type { Command } from "commander";
import { counted } from "../src/domain/counted.ts";
import { OWN_NAME } from "../src/domain/own-name.ts";
import { Problem, WrongUsage } from "./problem.ts";
import { report, say } from "./report.ts";

interface SeedOptions {
  days: string;
  requests: string;
  seed: string;
  dataDir?: string;
}

export function addSeed(program: Command): void {
  program
    .command("seed")
    .description(
      "fill a new store with invented organizations, for demos and measurements; no gateway may run",
    )
    .option("--days <n>", "how many days back the data goes", "14")
    .option("--requests <n>", "how many requests", "12000")
    .option("--seed <n>", "the same number creates the same requests", "1")
    .action((_: object, command: Command) =>
      report(command, async ({ options }) => {
        const { days, requests, seed } = command.opts<SeedOptions>();
        const asked = {
          days: wholeNumber("--days", days, 1, 365),
          requests: wholeNumber("--requests", requests, 1, 2_000_000),
          seed: wholeNumber("--seed", seed, 0, 2 ** 31),
          password: process.env["TOLLGATE_SEED_PASSWORD"] ?? null,
        };
        const [{ loadConfig }, { seedStore }, { SeedRefused }] = await Promise.all([
          import("../src/config/config.ts"),
          import("../src/main/seed/seed.ts"),
          import("../src/main/seed/unused-store.ts"),
        ]);
        const { dataDir } = options;
        const config = loadConfig({
          env: process.env,
          cwd: process.cwd(),
          flags: { ...(dataDir !== undefined && { dataDir: resolve(dataDir) }) },
        });
        try {
          const made = await seedStore(config, asked, progress(options.json === true));
          return { json: JSON.stringify(made), text: textOf(made) };
        } catch (error) {
          if (error instanceof SeedRefused) throw new Problem(error.message, error.next);
          throw error;
        }
      }),
    );
}

interface Made {
  organizations: { name: string; owner: string }[];
  requests: number;
  operator: string;
  password: string;
  key: string;
  config: string;
  seconds: number;
}

const textOf = ({ organizations, requests, operator, password, key, config, seconds }: Made): string =>
  [
    `${counted(organizations.length, "organization")} and ${counted(requests, "request")} in ${seconds} s.`,
    "",
    `Sign in as ${operator} (operator), or as an owner:`,
    ...organizations.map(({ name, owner }) => `  ${owner}  ${name}`),
    `Password of every account: ${password}`,
    `API key: ${key}`,
    "",
    `→ ${OWN_NAME} serve --config ${config}`,
  ].join("\n");

/** Counts on one line on a terminal; prints nothing otherwise. */
function progress(quiet: boolean): (done: number, of: number) => void {
  if (quiet || !process.stderr.isTTY) return () => {};
  return (done, of) => {
    process.stderr.write(`\r\u001b[Kwritten ${done} of ${of} requests`);
    if (done >= of) say("");
  };
}

function wholeNumber(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (/^\d{1,10}$/.test(text) && value >= least && value <= most) return value;
  throw new WrongUsage(
    `${name} ${text} is not a valid number.`,
    `Give a whole number from ${least} to ${most}.`,
  );
}
