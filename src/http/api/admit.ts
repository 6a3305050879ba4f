// The door of the API, the same for both ways in: it decides who may call an endpoint before any of the endpoint's code runs. A
// session comes by its cookie, a management key as an operator; to a stranger, nothing exists.
import type { Caller, PersonCaller, Who } from "../../api/endpoint.ts";
import type { Actor } from "../../domain/actor.ts";
import { OperatorRefusal } from "../../domain/operator-refusals.ts";
import { Refusal } from "../../domain/refusals.ts";
import { ACTIONS, type Action, allowance, type Standing } from "../../domain/roles.ts";
import { tooOld } from "../../people/fresh.ts";
import type { SignedIn } from "../../people/people.ts";

/** Changes of money, keys and people need a recent sign-in (dashboard.md §8). */
const DELICATE = new Set<Action>([
  "keys.change",
  "limits.change",
  "billing.change",
  "team.change",
  "settings.change",
  "operate",
]);

/** A caller whose credential is valid, before its rights are checked. */
export interface Identity {
  actor: Actor;
  /** The credential's owner: a person's id, or the installation. */
  person: string;
  /** Null for a management key. */
  signedIn: SignedIn | null;
  /** The caller's standings in the organization, or without one. Throws for an organization that the caller may not see. */
  standings(organizationId: string | null): Promise<readonly Standing[]>;
  /** Who in the organization may do this, as a sentence for its members. */
  holders(organizationId: string | null, may: Action): Promise<string>;
}

/** What is known about a call before its body is read. */
export interface Asked {
  who: Who;
  /** From the path. */
  organizationId: string | null;
  changes: boolean;
}

/** Returns the caller; null for an anonymous one if everybody may call. Throws for a caller that the endpoint does not admit. */
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

/** Whether an admitted caller would be admitted again; false also if that cannot be checked right now. */
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
    `Your role may not do this. It requires one of these roles: ${roles}.${whoHolds}`,
  );
}
