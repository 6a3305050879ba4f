// Identifies a session's cookie: a person, with their standings in the organization that they ask about.
import type { From } from "../../domain/actor.ts";
import { OperatorRefusal } from "../../domain/operator-refusals.ts";
import type { Standing } from "../../domain/roles.ts";
import { notFound } from "../../domain/unknown-record.ts";
import type { People, SignedIn, Visitor } from "../../people/people.ts";
import type { Identity } from "./admit.ts";
import { holders } from "./holders.ts";
import { checkOrigin } from "./origin.ts";
import type { Door } from "./serve.ts";

export interface SessionPorts {
  /** Origins whose pages may send changes. */
  origins: readonly string[];
  people: Pick<People, "membership" | "memberships" | "persons" | "rules" | "seen" | "sessionOf">;
  organizationExists(id: string): Promise<boolean>;
}

/** Accepts changes from our own pages only; nobody is identified if there is no session, or it has ended. */
export const sessionDoor = (on: SessionPorts): Door => ({
  root: "/app/v1",
  identify: async (request, { visitor, requestId }) => {
    checkOrigin(request, on.origins);
    return await personOf(on, { visitor, from: { address: visitor.address, requestId } });
  },
});

async function personOf(
  on: SessionPorts,
  { visitor, from }: { visitor: Visitor; from: From },
): Promise<Identity | null> {
  const signedIn = await on.people.sessionOf(visitor);
  if (signedIn === null) return null;
  let member = false;
  return {
    actor: { id: signedIn.person.id, ...from },
    person: signedIn.person.id,
    signedIn,
    standings: async (organizationId) => {
      const standings = await standingsOf(on, signedIn, organizationId);
      member = standings.some((standing) => standing !== "operator");
      return standings;
    },
    // An operator who is not a member learns no names.
    holders: async (organizationId, may) =>
      member && organizationId !== null ? await holders(on.people, organizationId, may) : "",
  };
}

async function standingsOf(
  on: SessionPorts,
  { person }: SignedIn,
  organizationId: string | null,
): Promise<Standing[]> {
  const asOperator: Standing[] = person.operator ? ["operator"] : [];
  if (organizationId === null) return asOperator;
  const membership = await on.people.membership(organizationId, person.id);
  if (membership === null) {
    if (person.operator && (await on.organizationExists(organizationId))) return asOperator;
    throw notFound("org");
  }
  const { requireTwoFactor } = await on.people.rules(organizationId);
  if (requireTwoFactor && !person.twoFactor)
    throw new OperatorRefusal(
      "two_factor_required",
      "This organization requires a second factor. Set one up in your profile.",
    );
  await on.people.seen(organizationId, person.id);
  return [membership.role, ...asOperator];
}
