// The organization in the address and what the signed-in person may do there. Hiding buttons is only a courtesy: the
// server decides each time, by the same table (docs/dashboard.md).
import { createContext, useContext } from "react";
import { type Action, allowance, mayGive, type Role, type Standing } from "../src/domain/roles.ts";
import type { Session } from "./api/session.ts";
import type { OrganizationPage } from "./path-builder.ts";

type Act =
  | "keys.create"
  | "keys.change"
  | "play"
  | "credits.buy"
  | "team.change"
  | "research.ask"
  | "alerts.change"
  | "limits.change"
  | "settings.change";

const MAY: Record<Act, readonly Standing[]> = {
  "keys.create": ["owner", "admin", "developer", "operator"],
  "keys.change": ["owner", "admin", "developer", "operator"],
  play: ["owner", "admin", "developer"],
  "credits.buy": ["owner", "billing"],
  "team.change": ["owner", "admin", "operator"],
  "research.ask": ["owner", "admin", "developer"],
  "alerts.change": ["owner", "admin", "billing", "operator"],
  "limits.change": ["owner", "admin", "operator"],
  "settings.change": ["owner", "admin"],
};

/** The permission that each page needs. */
const ASKS: Record<OrganizationPage, Action> = {
  overview: "overview.see",
  keys: "keys.see",
  usage: "usage.see",
  activity: "activity.see",
  billing: "billing.see",
  models: "models.see",
  playground: "playground.use",
  research: "research.see",
  team: "team.see",
  alerts: "alerts.see",
  audit: "audit.see",
  settings: "settings.see",
};

/** A page that would be refused has no entry in the navigation. */
export const maySee = (org: OwnStanding, page: OrganizationPage): boolean =>
  standingsOf(org).some((standing) => allowance(standing, ASKS[page]) !== null);

/**
 * A person's standing in an organization. A member who is also an operator may do what either may, as on the server.
 */
export interface OwnStanding {
  id: string;
  name: string;
  /** Null for an operator who is not a member. */
  role: Role | null;
  operates: boolean;
}

/** The operator's first. */
const standingsOf = ({ role, operates }: OwnStanding): Standing[] => [
  ...(operates ? (["operator"] as const) : []),
  ...(role === null ? [] : [role]),
];

export interface Membership {
  org: OwnStanding;
  session: Session;
  baseUrl: string;
  may: (act: Act) => boolean;
  /** True if they may give this role to someone, or take it away. */
  mayGive: (role: Role) => boolean;
  /** True if that page of the organization would answer: nothing links to one that would not. */
  sees: (page: OrganizationPage) => boolean;
}

export const MembershipContext = createContext<Membership | null>(null);

export function useMembership(): Membership {
  const membership = useContext(MembershipContext);
  if (membership === null) throw new Error("this page needs an organization");
  return membership;
}

export const membershipOf = (session: Session, org: OwnStanding): Membership => ({
  org,
  session,
  baseUrl: session.base_url,
  may: (act) => standingsOf(org).some((standing) => MAY[act].includes(standing)),
  mayGive: (role) => standingsOf(org).some((standing) => mayGive(standing, role)),
  sees: (page) => maySee(org, page),
});
