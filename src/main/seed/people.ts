// The people of a seeded store: operators, and the members of each organization, all with one password.
import type { Actor } from "../../domain/actor.ts";
import type { AuditNote } from "../../domain/audit-note.ts";
import type { Config } from "../../config/config.ts";
import { systemClock } from "../../lib/clock.ts";
import { firstRunToken } from "../../people/first-run.ts";
import { openPeople } from "../../people/open.ts";
import type { People, Person } from "../../people/people.ts";
import type { Passwords } from "../../people/sign-in.ts";
import { openPeopleStore } from "../../people/open-store.ts";
import { sessionSecret } from "../../people/store.ts";
import type { SeededOrganization } from "./cast.ts";

export const SEEDED_OPERATORS = [
  { name: "Ada Osei", email: "ada@tollgate.example" },
  { name: "Tomas Lind", email: "tomas@tollgate.example" },
] as const;

const NOBODY = { headers: new Headers(), address: null };
/** Creating all accounts at once must not be throttled. */
const SIGN_INS = 100_000;

export interface Casting {
  people: People;
  password: string;
  note: (note: AuditNote) => Promise<void>;
  actorOf: (person: Pick<Person, "id">) => Actor;
}

export const openSeededPeople = (
  config: Config,
  { dataKey, passwords }: { dataKey: Uint8Array; passwords: Passwords | undefined },
): Promise<People> =>
  openPeople({
    passwords,
    clock: systemClock,
    openStore: () => openPeopleStore({ dataDir: config.dataDir, databaseUrl: config.databaseUrl }),
    // Each person is announced together with their memberships; an interrupted seed is thrown away.
    carry: async () => {},
    secret: sessionSecret(dataKey),
    url: "http://localhost",
    origins: [],
    oidc: [],
    signInsPerMinute: SIGN_INS,
    ownerOfManagementKey: async () => null,
  });

/** The first account of the store, and the operators that it invites. */
export async function castOperators(on: Casting, secret: string): Promise<Person[]> {
  const [first, ...others] = SEEDED_OPERATORS;
  const token = firstRunToken(secret, Date.now());
  const account = { ...first, password: on.password };
  const root = await on.people.welcome(token, account, NOBODY);
  await on.people.arrive(account, NOBODY);
  const invited: Person[] = [];
  for (const other of others) {
    const person = await invite(on, { ...other, role: "viewer" }, { organizationId: null, by: root });
    await told(on, { by: root, person, organizationId: null, role: "operator" });
    invited.push(person);
  }
  return [root, ...invited];
}

/**
 * The operator invites the owner, who invites everybody else. Returns them by the part of their address
 * before the `@`.
 */
export async function castMembers(
  on: Casting,
  organizationId: string,
  { of: { people }, operator }: { of: SeededOrganization; operator: Person },
): Promise<Map<string, Person>> {
  const members = new Map<string, Person>();
  let by = operator;
  for (const wanted of people) {
    const person = await invite(on, wanted, { organizationId, by });
    await told(on, { by, person, organizationId, role: wanted.role });
    if (wanted.role === "owner") by = person;
    members.set(wanted.email.split("@")[0] ?? "", person);
  }
  return members;
}

async function invite(
  { people, password }: Casting,
  { name, email, role }: SeededOrganization["people"][number],
  { organizationId, by }: { organizationId: string | null; by: Person },
): Promise<Person> {
  const { token } = await people.invite({ organizationId, email, role, invitedBy: by.id });
  const account = { name, password };
  const { person } = await people.accept(token, { account, visitor: NOBODY });
  await people.arrive({ email, password }, NOBODY);
  return person;
}

async function told(
  { note, actorOf }: Casting,
  joined: { by: Person; person: Person; organizationId: string | null; role: string },
): Promise<void> {
  const { by, person, organizationId, role } = joined;
  const whom = { organizationId, target: person.id };
  const invited = organizationId === null ? "operator.invite" : "member.invite";
  await note({ ...whom, actor: actorOf(by), action: invited, after: { email: person.email, role } });
  await note({ ...whom, actor: actorOf(person), action: "member.join", after: { role } });
}
