// The door of the API, one for both ways in: who an endpoint says may call it is decided here, before anything of it runs. A
// session comes by its cookie, a management key as an operator; what a stranger asks about does not exist.
import type { Caller, PersonCaller, Who } from "../../api/endpoint.ts";
import type { Actor } from "../../domain/actor.ts";
import { OperatorRefusal } from "../../domain/operator-refusals.ts";
import { Refusal } from "../../domain/refusals.ts";
import { ACTIONS, type Action, allowance, type Standing } from "../../domain/roles.ts";
import { tooOld } from "../../people/fresh.ts";
import type { SignedIn } from "../../people/people.ts";

/** Changes of money, keys and people ask for a sign-in that is not too old (dashboard.md §8). */
const DELICATE = new Set<Action>([
  "keys.change",
  "limits.change",
  "billing.change",
  "team.change",
  "settings.change",
  "operate",
]);

/** Somebody whose credential is good, before it is asked what they may do. */
export interface Identity {
  actor: Actor;
  /** Whose credential it is: a person's id, or the installation. */
  person: string;
  /** Null for a management key. */
  signedIn: SignedIn | null;
  /** What they are in the organization, or without one. Throws for an organization that they do not see. */
  standings(organizationId: string | null): Promise<readonly Standing[]>;
  /** Who of the organization may, as a sentence for its members. */
  holders(organizationId: string | null, may: Action): Promise<string>;
}

/** What is known of a call before its body is read. */
export interface Asked {
  who: Who;
  /** Of the path. */
  organizationId: string | null;
  changes: boolean;
}

/** Who calls; null for nobody where everybody may. Throws for whom the endpoint does not let in. */
export async function admit(identity: Identity | null, asked: Asked): Promise<Caller | PersonCaller | null> {
  const { who, changes } = asked;
  if (identity === null) {
    if (who === "anybody") return null;
    throw notSignedIn();
  }
  const { actor, person, signedIn } = identity;
  const known = { actor, person, ...(signedIn !== null && { signedIn }) };
  if (who === "anybody" || who === "signed_in")
    return { ...known, standing: "viewer", standings: ["viewer"], allowance: "own" };
  const organizationId = who === "operate" ? null : asked.organizationId;
  const allowed = (await identity.standings(organizationId)).flatMap((standing) => {
    const found = allowance(standing, who);
    return found === null ? [] : [{ standing, allowance: found }];
  });
  const best = allowed.find((row) => row.allowance === "all") ?? allowed[0];
  if (best === undefined) throw roleRefusal(who, await identity.holders(organizationId, who));
  if (changes && DELICATE.has(who) && signedIn?.session.fresh === false) throw tooOld();
  return { ...known, ...best, standings: allowed.map(({ standing }) => standing) };
}

/** Whether who was admitted would be again; false also when people cannot be asked right now. */
export async function stillAdmitted(
  identify: () => Promise<Identity | null>,
  asked: Asked,
): Promise<boolean> {
  try {
    return (await admit(await identify(), asked)) !== null;
  } catch (error) {
    if (error instanceof OperatorRefusal || error instanceof Refusal) return false;
    throw error;
  }
}

const notSignedIn = (): OperatorRefusal =>
  new OperatorRefusal("not_signed_in", "Sign in first: there is no session, or it has ended.");

function roleRefusal(may: Action, whoHolds: string): OperatorRefusal {
  const roles = Object.keys(ACTIONS[may]).join(", ");
  return new OperatorRefusal(
    "role_not_permitted",
    `Your role may not do this. Roles that may: ${roles}.${whoHolds}`,
  );
}
