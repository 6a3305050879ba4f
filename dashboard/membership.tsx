// The organization in the address and what the signed-in person may do there. Hidden buttons are a courtesy: the server
// decides each time, by the same table (docs/dashboard.md).
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

/** What a page asks of who opens it. */
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

/** A page that would refuse somebody has no entry in their navigation. */
export const maySee = (org: OwnStanding, page: OrganizationPage): boolean =>
  standingsOf(org).some((standing) => allowance(standing, ASKS[page]) !== null);

/** What a person is in an organization. Who is a member and an operator may do what either may, as the server has it. */
export interface OwnStanding {
  id: string;
  name: string;
  /** Of a member; null for an operator who only looks in. */
  role: Role | null;
  operates: boolean;
}

/** An operator's first. */
const standingsOf = ({ role, operates }: OwnStanding): Standing[] => [
  ...(operates ? (["operator"] as const) : []),
  ...(role === null ? [] : [role]),
];

export interface Membership {
  org: OwnStanding;
  session: Session;
  baseUrl: string;
  may: (act: Act) => boolean;
  /** Whether they may give somebody this role, or take it away. */
  mayGive: (role: Role) => boolean;
  /** Whether that page of the organization would answer: nothing leads to one that would not. */
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
