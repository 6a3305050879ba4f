// `invitations list|send|resend|withdraw`: invitations to an organization. `send` and `resend` print the link once.
import type { Command } from "commander";
import type { InvitationJson, MadeInvitationJson } from "../src/api/shapes/people.ts";
import { ROLES, type Role } from "../src/domain/roles.ts";
import { oneOf, orOf } from "./choice.ts";
import { confirm } from "./confirm.ts";
import { type Paged, paged, tellMore } from "./paged.ts";
import { report } from "./report.ts";
import { table } from "./table.ts";

export const ROLE = ["--role <role>", orOf(ROLES), oneOf(ROLES)] as const;

export function addInvitations(program: Command): void {
  const invitations = program.command("invitations").description("invitations to an organization");
  addList(invitations);
  addSend(invitations);
  addResend(invitations);
  addWithdraw(invitations);
}

function addList(invitations: Command): void {
  paged(
    invitations
      .command("list")
      .description("list an organization's invitations, newest first")
      .requiredOption("--org <org>", "the organization's id or name"),
  ).action((options: Paged & { org: string }, command: Command) =>
    report(command, async (context) => {
      const gateway = await context.gateway();
      const { text, value } = await gateway.call("GET /admin/v1/invitations", { ...options });
      tellMore(value);
      return { json: text, text: () => table(value.data, INVITATION) };
    }),
  );
}

function addSend(invitations: Command): void {
  invitations
    .command("send <email>")
    .description("invite someone; prints the link, and mails it if a mail server is configured")
    .requiredOption("--org <org>", "the organization's id or name")
    .requiredOption(...ROLE)
    .action((email: string, { org, role }: { org: string; role: Role }, command: Command) =>
      report(command, async (context) => {
        const gateway = await context.gateway();
        const { text, value } = await gateway.call("POST /admin/v1/invitations", { org, email, role });
        return { json: text, text: () => made(value) };
      }),
    );
}

function addResend(invitations: Command): void {
  invitations
    .command("resend <invitation>")
    .description("renew an open or expired invitation; its old link stops working")
    .requiredOption("--org <org>", "the organization's id or name")
    .action((invitation: string, { org }: { org: string }, command: Command) =>
      report(command, async (context) => {
        const gateway = await context.gateway();
        const target = "POST /admin/v1/invitations/{invitation}/resend";
        const { text, value } = await gateway.call(target, { org, invitation });
        return { json: text, text: () => made(value) };
      }),
    );
}

function addWithdraw(invitations: Command): void {
  invitations
    .command("withdraw <invitation>")
    .description("withdraw an invitation; its link stops working")
    .requiredOption("--org <org>", "the organization's id or name")
    .option("--yes", "do not ask")
    .action((invitation: string, { org, yes }: { org: string; yes?: boolean }, command: Command) =>
      report(command, async (context) => {
        const gateway = await context.gateway();
        await confirm(context, { what: "Its link stops working.", name: invitation, yes });
        const target = "POST /admin/v1/invitations/{invitation}/withdraw";
        const { text, value } = await gateway.call(target, { org, invitation });
        return { json: text, text: () => `The invitation of ${value.email} is ${value.state}.` };
      }),
    );
}

const made = ({ id, email, role, expires_at, link, mail }: MadeInvitationJson): string =>
  [
    `${id} invites ${email} as ${role}, until ${expires_at}.`,
    ...(link === null ? [] : [link]),
    mail?.state === "sent"
      ? "The link was mailed as well. It works once, and is not shown again."
      : `${mail === null ? "This gateway sends no mail" : `No mail was sent (${mail.reason})`}: pass the link on yourself. It works once, and is not shown again.`,
  ].join("\n");

const INVITATION = {
  INVITATION: (row: InvitationJson) => row.id,
  EMAIL: (row: InvitationJson) => row.email,
  ROLE: (row: InvitationJson) => row.role,
  STATE: (row: InvitationJson) => row.state,
  "INVITED BY": (row: InvitationJson) => row.invited_by.name ?? row.invited_by.id,
  EXPIRES: (row: InvitationJson) => row.expires_at,
};
