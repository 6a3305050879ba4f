// `members list|role|remove`: the members of an organization and their roles. `invitations.ts` invites new ones.
import type { Command } from "commander";
import type { MemberJson } from "../src/api/shapes/people.ts";
import { OWN_NAME } from "../src/domain/own-name.ts";
import { confirm } from "./confirm.ts";
import type { Gateway } from "./gateway.ts";
import { type Paged, paged, tellMore } from "./paged.ts";
import { Problem } from "./problem.ts";
import { report } from "./report.ts";
import { dollars, table } from "./table.ts";
import { ROLE } from "./invitations.ts";
import type { Role } from "../src/domain/roles.ts";

export function addMembers(program: Command): void {
  const members = program.command("members").description("members of an organization, and their roles");
  addList(members);
  addRole(members);
  addRemove(members);
}

function addList(members: Command): void {
  paged(
    members
      .command("list")
      .description("list an organization's members, newest first")
      .requiredOption("--org <org>", "the organization's id or name")
      .option("--search <text>", "part of a name or address, or an id"),
  ).action((options: Paged & { org: string; search?: string }, command: Command) =>
    report(command, async (context) => {
      const gateway = await context.gateway();
      const { text, value } = await gateway.call("GET /admin/v1/members", { ...options });
      tellMore(value);
      return { json: text, text: () => table(value.data, MEMBER) };
    }),
  );
}

function addRole(members: Command): void {
  members
    .command("role <person>")
    .description("change a member's role; takes an id or an address")
    .requiredOption("--org <org>", "the organization's id or name")
    .requiredOption(...ROLE)
    .option(
      "--if-version <version>",
      "refuse if the role changed since `members list --json` showed this version",
    )
    .action((person: string, options: { org: string; role: Role; ifVersion?: string }, command: Command) =>
      report(command, async (context) => {
        const { org, role, ifVersion: version } = options;
        const gateway = await context.gateway();
        const member = await memberNamed(gateway, org, person);
        const input = { org, member, role, version };
        const { text, value } = await gateway.call("POST /admin/v1/members/{member}/role", input);
        return { json: text, text: () => `${value.email} is ${value.role} of ${org}.` };
      }),
    );
}

function addRemove(members: Command): void {
  members
    .command("remove <person>")
    .description("remove a member; the keys they created keep working; takes an id or an address")
    .requiredOption("--org <org>", "the organization's id or name")
    .option("--yes", "do not ask")
    .action((person: string, { org, yes }: { org: string; yes?: boolean }, command: Command) =>
      report(command, async (context) => {
        const gateway = await context.gateway();
        const member = await memberNamed(gateway, org, person);
        await confirm(context, {
          what: "They can only come back through a new invitation.",
          name: person,
          yes,
        });
        const { text } = await gateway.call("POST /admin/v1/members/{member}/remove", { org, member });
        return {
          json: text,
          text: `${person} is no longer a member of ${org}. ${OWN_NAME} keys list --org ${org} shows its keys; those that they created keep working.`,
        };
      }),
    );
}

/** Returns an id unchanged; looks up an email address among the members. */
async function memberNamed(gateway: Gateway, org: string, person: string): Promise<string> {
  if (!person.includes("@")) return person;
  const { value } = await gateway.call("GET /admin/v1/members", { org, search: person });
  const found = value.data.find(({ email }) => email.toLowerCase() === person.toLowerCase());
  if (found !== undefined) return found.person.id;
  throw new Problem(
    `Nobody with the address ${person} is a member of ${org}.`,
    `List who is: ./tollgate members list --org ${org}`,
  );
}

const MEMBER = {
  PERSON: (row: MemberJson) => row.person.id,
  NAME: (row: MemberJson) => row.person.name,
  EMAIL: (row: MemberJson) => row.email,
  ROLE: (row: MemberJson) => row.role,
  "TWO-FACTOR": (row: MemberJson) => (row.two_factor ? "yes" : "no"),
  KEYS: (row: MemberJson) => row.keys,
  "THIS MONTH": (row: MemberJson) => dollars(row.month_spend_usd),
  "LAST SEEN": (row: MemberJson) => row.last_seen_at,
};
