// Who is signed in, the first account, a person's own profile.
import type { AppAnswer } from "../../contract/app.ts";
import type { Desk } from "../../contract/desk.ts";
import type { Operator } from "../../contract/operator.ts";
import type { People, SignedIn } from "../../contract/people.ts";
import { actorOf, callerOf, type Handlers, notFound, personOf } from "./call.ts";

export interface SessionPorts {
  people: People;
  desk: Pick<Desk, "note">;
  operator: Pick<Operator, "organizations">;
  /** Ends with `/v1`. */
  baseUrl: string;
  version: string;
}

type Session = AppAnswer<"GET /session">;
type Profile = AppAnswer<"GET /profile">;
type Routes =
  | "GET /session"
  | "POST /welcome"
  | "POST /reset"
  | "GET /profile"
  | "PATCH /profile"
  | "POST /profile/password"
  | "DELETE /profile/sessions/{session}"
  | "POST /profile/sessions/end-others";

export const sessionHandlers = (on: SessionPorts): Handlers<Routes> => ({
  "GET /session": async ({ who }) => await printSession(on, who?.signedIn ?? null),
  "POST /welcome": async (call) => {
    const { body, visitor, cookies } = call;
    const { token, ...account } = body;
    const arrival = await on.people.welcome(token, account, visitor);
    cookies.push(...arrival.cookies);
    const { person } = arrival;
    const [first] = (await on.operator.organizations.list()).data;
    if (first !== undefined) await on.people.join(first.id, person.id, "owner");
    await on.desk.note({
      actor: actorOf(call, person.id),
      action: "person.first",
      organizationId: first?.id ?? null,
      target: person.id,
      after: { operator: true },
    });
    return await printSession(on, await arrivedAs(on, arrival.cookies));
  },
  "POST /reset": async (call) => {
    const { body, visitor } = call;
    const { id } = await on.people.reset(body.token, body.password, visitor);
    await on.desk.note({
      actor: actorOf(call, id),
      action: "person.password",
      organizationId: null,
      target: id,
    });
    return { done: true };
  },
  "GET /profile": async (call) => await printProfile(on, callerOf(call).signedIn),
  "PATCH /profile": async (call) => {
    const { signedIn } = callerOf(call);
    const name = call.body.name.trim();
    const { id, name: before } = signedIn.person;
    await on.people.rename(id, name);
    await on.desk.note({
      actor: actorOf(call),
      action: "person.rename",
      organizationId: null,
      target: id,
      before: { name: before },
      after: { name },
    });
    return await printProfile(on, { ...signedIn, person: { ...signedIn.person, name } });
  },
  "POST /profile/password": async (call) => {
    const { id } = personOf(call);
    await on.people.changePassword(call.visitor, call.body);
    await on.desk.note({ actor: actorOf(call), action: "person.password", organizationId: null, target: id });
    return { done: true };
  },
  "DELETE /profile/sessions/{session}": async (call) => {
    const { id } = personOf(call);
    if (!(await on.people.endSessions(id, { only: call.params.session }))) throw notFound("session");
    await on.desk.note({
      actor: actorOf(call),
      action: "person.session_end",
      organizationId: null,
      target: call.params.session,
    });
    return { done: true };
  },
  "POST /profile/sessions/end-others": async (call) => {
    const { signedIn } = callerOf(call);
    const { id } = signedIn.person;
    await on.people.endSessions(id, { allBut: signedIn.session.id });
    await on.desk.note({
      actor: actorOf(call),
      action: "person.session_end",
      organizationId: null,
      target: "others",
    });
    return { done: true };
  },
});

/** The session behind cookies that are just being set. */
export function arrivedAs(
  on: Pick<SessionPorts, "people">,
  cookies: readonly string[],
): Promise<SignedIn | null> {
  const cookie = cookies.map((line) => line.split(";", 1)[0]).join("; ");
  return on.people.sessionOf({ headers: new Headers({ cookie }), address: null });
}

export async function printSession(on: SessionPorts, signedIn: SignedIn | null): Promise<Session> {
  return {
    person: signedIn === null ? null : await printPerson(on, signedIn),
    expires_at: signedIn === null ? null : new Date(signedIn.session.expiresAtMs).toISOString(),
    first_run: !(await on.people.anybody()),
    ways: on.people.ways(),
    base_url: on.baseUrl,
    version: signedIn === null ? null : on.version,
  };
}

async function printPerson(on: SessionPorts, { person }: SignedIn): Promise<NonNullable<Session["person"]>> {
  const names = new Map((await on.operator.organizations.list()).data.map(({ id, name }) => [id, name]));
  const memberships = await on.people.memberships({ personId: person.id });
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

async function printProfile(on: SessionPorts, signedIn: SignedIn): Promise<Profile> {
  const { id } = signedIn.person;
  const time = (ms: number): string => new Date(ms).toISOString();
  return {
    person: await printPerson(on, signedIn),
    passkeys: (await on.people.passkeys(id)).map((passkey) => ({
      id: passkey.id,
      name: passkey.name,
      created_at: time(passkey.createdAtMs),
    })),
    sessions: (await on.people.sessions(id)).map((session) => ({
      id: session.id,
      created_at: time(session.createdAtMs),
      last_seen_at: time(session.seenAtMs),
      expires_at: time(session.expiresAtMs),
      address: session.address,
      agent: session.agent,
      current: session.id === signedIn.session.id,
    })),
  };
}
