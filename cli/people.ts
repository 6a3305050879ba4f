// `people list`, `people reset`: accounts of the dashboard, and how a locked-out person gets back in.
import type { Command } from "commander";
import type { PersonJson } from "../src/api/shapes/records.ts";
import { type Paged, wholeOrPage, wholeOrPaged } from "./paged.ts";
import { report } from "./report.ts";
import { table } from "./table.ts";

export function addPeople(program: Command): void {
  const people = program.command("people").description("accounts of the dashboard");
  wholeOrPaged(
    people
      .command("list")
      .description("list accounts")
      .option("--search <text>", "part of a name or address, or an id"),
  ).action((options: Paged & { search?: string }, command: Command) =>
    report(command, async (context) => {
      const gateway = await context.gateway();
      const { text, value } = await wholeOrPage(gateway, "GET /admin/v1/people", { ...options });
      return { json: text, text: () => table(value.data, PERSON) };
    }),
  );
  people
    .command("reset <person>")
    .description("create a password-reset link, valid once within an hour; takes an id or an address")
    .option("--two-factor", "also remove the second factor and all passkeys (lost phone)")
    .action((person: string, options: { twoFactor?: boolean }, command: Command) =>
      report(command, async (context) => {
        const body = { person, two_factor: options.twoFactor === true };
        const { text, value } = await (await context.gateway()).call("POST /admin/v1/people/reset", body);
        return {
          json: text,
          text: () => `${value.link}\nFor ${value.email}, once, until ${value.expires_at}.`,
        };
      }),
    );
}

const PERSON = {
  PERSON: (row: PersonJson) => row.id,
  NAME: (row: PersonJson) => row.name,
  EMAIL: (row: PersonJson) => row.email,
  OPERATOR: (row: PersonJson) => (row.operator ? "yes" : "no"),
  "TWO-FACTOR": (row: PersonJson) => (row.two_factor ? "yes" : "no"),
  CREATED: (row: PersonJson) => row.created_at,
};
