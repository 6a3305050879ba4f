// Everybody with an account, for operators: the list, a way back in for somebody locked out, the removal of
// an operator.
import { DAY_MS } from "../domain/durations.ts";
import { z } from "zod";
import type { Actor } from "../domain/actor.ts";
import { PAGE_ROWS } from "../domain/page-rows.ts";
import { notFound } from "../domain/unknown-record.ts";
import { printTime } from "../domain/print.ts";
import { mailReset } from "../operator/reset-mail.ts";
import { rowCursor } from "../reporting/cursors.ts";
import { organizationNames } from "../reporting/organization-names.ts";
import { resetLinksSince } from "../reporting/reset-links.ts";
import { endpoint } from "./endpoint.ts";
import type { Rooms } from "./rooms.ts";
import { DONE, done, id } from "./shapes/fields.ts";
import * as shapes from "./shapes/people.ts";
import * as inputs from "./shapes/record-inputs.ts";
import { personListSchema, resetLinkSchema } from "./shapes/records.ts";

export const peopleEndpoints = [
  endpoint({
    target: "GET /app/v1/operator/people",
    who: "operate",
    input: shapes.peopleQuery,
    output: shapes.operatorPersonList,
    run: async ({ input: { search = "", cursor, limit = PAGE_ROWS } }, rooms) => {
      const after = await rowCursor(cursor, async (id) => (await rooms.people.persons([id])).length > 0);
      const asked = { after: after ?? "", search, most: limit + 1 };
      const found = await rooms.people.accountsAfter(asked);
      const people = found.slice(0, limit);
      const all = await rooms.people.memberships({ personIds: people.map(({ id }) => id) });
      const memberships = Map.groupBy(all, ({ personId }) => personId);
      const names = await organizationNames(
        rooms.reports.sql,
        all.map(({ organizationId }) => organizationId),
      );
      const row = async (person: (typeof people)[number]) => {
        const own = memberships.get(person.id) ?? [];
        // For people without a membership, mostly operators, only their sessions show when they were last
        // seen.
        const looks = own.length > 0 ? own : await rooms.people.sessions(person.id);
        const seen = Math.max(0, ...looks.map(({ seenAtMs }) => seenAtMs));
        return {
          person: { id: person.id, name: person.name },
          email: person.email,
          operator: person.operator,
          two_factor: person.twoFactor,
          last_seen_at: seen === 0 ? null : printTime(seen),
          memberships: own.map(({ organizationId: org, role }) => ({
            org,
            name: names.get(org) ?? org,
            role,
          })),
        };
      };
      return {
        data: await Promise.all(people.map(row)),
        next_cursor: found.length > limit ? (people.at(-1)?.id ?? null) : null,
      };
    },
  }),
  endpoint({
    target: "POST /app/v1/operator/people/{person}/reset",
    who: "operate",
    input: shapes.resetPersonInput.extend({ person: id }),
    output: shapes.resetLink,
    audit: "person.reset",
    run: ({ input, caller }, rooms) => resetBy(rooms, input, caller.actor),
  }),
  endpoint({
    target: "DELETE /app/v1/operator/people/{person}",
    who: "operate",
    input: z.strictObject({ person: id }),
    output: done,
    audit: "operator.remove",
    run: async ({ input, caller: { actor } }, rooms) => {
      const found = (await rooms.people.persons([input.person])).find(({ operator }) => operator);
      if (found === undefined) throw notFound("person");
      await rooms.people.written(
        () => rooms.people.removeOperator(found.id, actor.id),
        () => ({ actor, action: "operator.remove", organizationId: null, target: found.id }),
      );
      // Their keys no longer work already; revoking them keeps the list of keys clear.
      await rooms.changes.endManagementKeys(found.id, actor);
      return DONE;
    },
  }),
  endpoint({
    target: "GET /admin/v1/people",
    who: "operate",
    summary: "List accounts of the dashboard, ordered by id",
    input: inputs.personRecordsQuery,
    output: personListSchema,
    run: ({ input }, { operator }) => operator.people.list(input),
  }),
  endpoint({
    target: "POST /admin/v1/people/reset",
    who: "operate",
    summary: "Create a one-time link that sets an account's new password",
    input: inputs.resetLinkInput,
    output: resetLinkSchema,
    audit: "person.reset",
    run: ({ input, caller }, { operator }) => operator.people.reset(input, caller.actor),
  }),
] as const;

/** Creates the link, which the response shows whatever happens to its mail. */
async function resetBy(
  rooms: Pick<Rooms, "operator" | "people" | "reports" | "sendMail" | "nowMs">,
  input: inputs.ResetPerson & { person: string },
  actor: Actor,
): Promise<z.output<typeof shapes.resetLink>> {
  const made = await rooms.operator.people.reset(input, actor);
  const { sendMail: send } = rooms;
  if (send === null) return { ...made, mail: null };
  const { email: to, link } = made;
  const [atMs, expiresAtMs] = [rooms.nowMs(), Date.parse(made.expires_at)];
  const account = await rooms.people.personNamed(input.person);
  const timesToday = await resetLinksSince(rooms.reports.sql, account?.id ?? input.person, atMs - DAY_MS);
  const id = `reset_${Bun.randomUUIDv7()}`;
  const mail = { id, to, link, twoFactorRemoved: input.two_factor, timesToday, expiresAtMs, atMs };
  return { ...made, mail: await mailReset(mail, send) };
}
