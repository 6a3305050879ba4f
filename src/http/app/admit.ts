// Who may come in: the session from its cookie, the standing in the organization of the path, the row of the role
// table. What a stranger asks about does not exist.
import { OperatorRefusal } from "../../contract/admin-refusals.ts";
import type { Admission } from "../../contract/app/route.ts";
import type { People, SignedIn, Visitor } from "../../contract/people.ts";
import { ACTIONS, type Action, allowance, type Standing } from "../../contract/roles.ts";
import { notFound, notSignedIn, type Who } from "./call.ts";
import { holders } from "./holders.ts";

/** Changes of money, keys and people ask for a sign-in that is not older (dashboard.md §8). */
const FRESH_MS = 12 * 3_600_000;
const DELICATE = new Set<Action>([
  "keys.change",
  "billing.change",
  "team.change",
  "settings.change",
  "operate",
]);

export interface AdmitPorts {
  people: Pick<People, "membership" | "memberships" | "persons" | "rules" | "seen" | "sessionOf">;
  organizationExists(id: string): Promise<boolean>;
}

export async function admit(
  on: AdmitPorts,
  asked: { may: Admission; organizationId: string | null; changes: boolean; visitor: Visitor },
): Promise<Who | null> {
  const { may, organizationId, changes, visitor } = asked;
  const signedIn = await on.people.sessionOf(visitor);
  if (signedIn === null) {
    if (may === "open") return null;
    throw notSignedIn();
  }
  if (may === "open" || may === "signed_in") return { signedIn, standing: "viewer", allowance: "own" };
  const who =
    organizationId === null || may === "operate"
      ? operatorOf(signedIn, may)
      : await memberOf(on, { signedIn, organizationId, may });
  if (changes && DELICATE.has(may) && Date.now() - signedIn.session.createdAtMs > FRESH_MS)
    throw new OperatorRefusal(
      "sign_in_again",
      "Your sign-in is older than 12 hours. Sign in again, then repeat this.",
    );
  return who;
}

function operatorOf(signedIn: SignedIn, may: Action): Who {
  if (!signedIn.person.operator) throw roleRefusal(may);
  return { signedIn, standing: "operator", allowance: "all" };
}

async function memberOf(
  on: AdmitPorts,
  { signedIn, organizationId, may }: { signedIn: SignedIn; organizationId: string; may: Action },
): Promise<Who> {
  const { person } = signedIn;
  const membership = await on.people.membership(organizationId, person.id);
  if (membership === null && !(person.operator && (await on.organizationExists(organizationId))))
    throw notFound("org");
  if (membership !== null) {
    const { requireTwoFactor } = await on.people.rules(organizationId);
    if (requireTwoFactor && !person.twoFactor)
      throw new OperatorRefusal(
        "two_factor_required",
        "This organization asks for a second factor. Set one up in your profile.",
      );
    await on.people.seen(organizationId, person.id);
  }
  const standings: Standing[] = [
    ...(membership === null ? [] : [membership.role]),
    ...(person.operator ? (["operator"] as const) : []),
  ];
  const allowed = standings.flatMap((standing) => {
    const found = allowance(standing, may);
    return found === null ? [] : [{ standing, allowance: found }];
  });
  const best = allowed.find((row) => row.allowance === "all") ?? allowed[0];
  if (best === undefined)
    // An operator who is no member of it learns no names.
    throw roleRefusal(may, membership === null ? "" : await holders(on.people, organizationId, may));
  return { signedIn, ...best };
}

function roleRefusal(may: Action, whoHolds = ""): OperatorRefusal {
  const roles = Object.keys(ACTIONS[may]).join(", ");
  return new OperatorRefusal(
    "role_not_permitted",
    `Your role may not do this. It takes: ${roles}.${whoHolds}`,
  );
}
