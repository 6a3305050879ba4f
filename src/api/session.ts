// The signed-in person, the first account, a person's own profile.
import { z } from "zod";
import type { Actor } from "../domain/actor.ts";
import type { AuditNote } from "../domain/audit-note.ts";
import { printTime } from "../domain/print.ts";
import { notFound } from "../domain/unknown-record.ts";
import type { SignedIn } from "../people/people.ts";
import { firstOrganization, organizationNames } from "../reporting/organization-names.ts";
import { endpoint } from "./endpoint.ts";
import type { Exchange } from "./exchange.ts";
import type { Rooms } from "./rooms.ts";
import { DONE, done, id } from "./shapes/fields.ts";
import * as shapes from "./shapes/people.ts";

const nothing = z.strictObject({});

export const sessionEndpoints = [
  endpoint({
    target: "GET /app/v1/session",
    who: "anybody",
    input: nothing,
    output: shapes.session,
    run: ({ caller }, rooms) => printSession(rooms, caller?.signedIn ?? null),
  }),
  endpoint({
    target: "POST /app/v1/welcome",
    who: "anybody",
    input: shapes.welcomeInput,
    output: shapes.session,
    audit: "person.first",
    run: async ({ input: { token, ...account }, exchange }, rooms) => {
      const first = await firstOrganization(rooms.reports.sql);
      const person = await rooms.people.written(
        async () => {
          const made = await rooms.people.welcome(token, account, exchange.visitor);
          if (first !== null) await rooms.people.join(first, made.id, "owner");
          return made;
        },
        ({ id: target }) => ({
          actor: cameInAs(target, exchange),
          action: "person.first",
          organizationId: first,
          target,
          after: { operator: true },
        }),
      );
      const { password } = account;
      const cookies = await rooms.people.arrive({ email: person.email, password }, exchange.visitor);
      exchange.cookies.push(...cookies);
      return await printSession(rooms, await arrivedAs(rooms, cookies));
    },
  }),
  endpoint({
    target: "POST /app/v1/reset",
    who: "anybody",
    input: shapes.resetInput,
    output: done,
    audit: "person.password",
    run: async ({ input, exchange }, rooms) => {
      const { id } = await rooms.people.written(
        () => rooms.people.reset(input.token, input.password, exchange.visitor),
        (person) => passwordChanged(cameInAs(person.id, exchange)),
      );
      await rooms.changes.endLogins(id, cameInAs(id, exchange));
      return DONE;
    },
  }),
  endpoint({
    target: "GET /app/v1/profile",
    who: "signed_in",
    input: nothing,
    output: shapes.profile,
    run: ({ caller }, rooms) => printProfile(rooms, caller.signedIn),
  }),
  endpoint({
    target: "PATCH /app/v1/profile",
    who: "signed_in",
    input: shapes.profileInput,
    output: shapes.profile,
    audit: "person.rename",
    run: async ({ input, caller: { actor, signedIn } }, rooms) => {
      const name = input.name.trim();
      const { id: target, name: before } = signedIn.person;
      await rooms.people.written(
        () => rooms.people.rename(target, name),
        () => ({
          actor,
          action: "person.rename",
          organizationId: null,
          target,
          before: { name: before },
          after: { name },
        }),
      );
      return await printProfile(rooms, { ...signedIn, person: { ...signedIn.person, name } });
    },
  }),
  endpoint({
    target: "POST /app/v1/profile/password",
    who: "signed_in",
    input: shapes.passwordInput,
    output: done,
    audit: "person.password",
    run: async ({ input, caller: { actor }, exchange }, rooms) => {
      await rooms.people.written(
        () => rooms.people.changePassword(exchange.visitor, input),
        () => passwordChanged(actor),
      );
      await rooms.changes.endLogins(actor.id, actor);
      return DONE;
    },
  }),
  endpoint({
    target: "DELETE /app/v1/profile/sessions/{session}",
    who: "signed_in",
    input: z.strictObject({ session: id }),
    output: done,
    audit: "person.session_end",
    run: async ({ input: { session: target }, caller: { actor } }, rooms) => {
      const ended = await rooms.people.written(
        () => rooms.people.endSessions(actor.id, { only: target }),
        (any) => (any ? sessionEnded(actor, target) : null),
      );
      if (!ended) throw notFound("session");
      return DONE;
    },
  }),
  endpoint({
    target: "POST /app/v1/profile/sessions/end-others",
    who: "signed_in",
    input: nothing,
    output: done,
    audit: "person.session_end",
    run: async ({ caller: { actor, signedIn } }, rooms) => {
      await rooms.people.written(
        () => rooms.people.endSessions(actor.id, { allBut: signedIn.session.id }),
        () => sessionEnded(actor, "others"),
      );
      await rooms.changes.endLogins(actor.id, actor);
      return DONE;
    },
  }),
] as const;

/** For the audit log: who came in through an open endpoint. */
const cameInAs = (person: string, { visitor, requestId }: Exchange): Actor => ({
  id: person,
  address: visitor.address,
  requestId,
});

const passwordChanged = (actor: Actor): AuditNote => ({
  actor,
  action: "person.password",
  organizationId: null,
  target: actor.id,
});

const sessionEnded = (actor: Actor, target: string): AuditNote => ({
  actor,
  action: "person.session_end",
  organizationId: null,
  target,
});

/** The session of cookies that are just being set. */
export function arrivedAs(
  { people }: Pick<Rooms, "people">,
  cookies: readonly string[],
): Promise<SignedIn | null> {
  const cookie = cookies.map((line) => line.split(";", 1)[0]).join("; ");
  return people.sessionOf({ headers: new Headers({ cookie }), address: null });
}

/** Also without a session: what the sign-in page needs. */
export async function printSession(
  rooms: Rooms,
  signedIn: SignedIn | null,
): Promise<z.output<typeof shapes.session>> {
  return {
    person: signedIn === null ? null : await printPerson(rooms, signedIn),
    expires_at: signedIn === null ? null : printTime(signedIn.session.expiresAtMs),
    first_run: !(await rooms.people.anybody()),
    ways: rooms.people.ways(),
    base_url: rooms.site.baseUrl,
    version: signedIn === null ? null : rooms.site.version,
  };
}

async function printPerson(
  { reports, people }: Rooms,
  { person }: SignedIn,
): Promise<NonNullable<z.output<typeof shapes.session>["person"]>> {
  const memberships = await people.memberships({ personId: person.id });
  const names = await organizationNames(
    reports.sql,
    memberships.map(({ organizationId }) => organizationId),
  );
  return {
    id: person.id,
    name: person.name,
    email: person.email,
    operator: person.operator,
    two_factor: person.twoFactor,
    memberships: memberships.flatMap(({ organizationId, role }) => {
      const name = names.get(organizationId);
      return name === undefined ? [] : [{ org: organizationId, name, role }];
    }),
  };
}

async function printProfile(rooms: Rooms, signedIn: SignedIn): Promise<z.output<typeof shapes.profile>> {
  const { id: person } = signedIn.person;
  return {
    person: await printPerson(rooms, signedIn),
    passkeys: (await rooms.people.passkeys(person)).map((passkey) => ({
      id: passkey.id,
      name: passkey.name,
      created_at: printTime(passkey.createdAtMs),
    })),
    sessions: (await rooms.people.sessions(person)).map((one) => ({
      id: one.id,
      created_at: printTime(one.createdAtMs),
      last_seen_at: printTime(one.seenAtMs),
      expires_at: printTime(one.expiresAtMs),
      address: one.address,
      agent: one.agent,
      current: one.id === signedIn.session.id,
    })),
  };
}
