// Who may do what (dashboard.md §1): the one table. The server decides by it, the dashboard hides buttons by it, and a test calls
// every route with every role.

export const ROLES = ["owner", "admin", "billing", "developer", "viewer"] as const;
export type Role = (typeof ROLES)[number];
/** `operator` may look into every organization without being a member. */
export type Standing = Role | "operator";

/** `own`: only what this person created. */
export type Allowance = "all" | "own";
type Row = Partial<Record<Standing, Allowance>>;

const everybody = {
  owner: "all",
  admin: "all",
  billing: "all",
  developer: "all",
  viewer: "all",
  operator: "all",
} as const satisfies Row;

export const ACTIONS = {
  "overview.see": everybody,
  "usage.see": everybody,
  "activity.see": everybody,
  "models.see": everybody,
  "keys.see": everybody,
  "keys.change": { owner: "all", admin: "all", developer: "own", operator: "all" },
  "limits.see": everybody,
  /** Only downwards, except for operators. */
  "limits.change": { owner: "all", admin: "all", operator: "all" },
  "playground.use": { owner: "all", admin: "all", developer: "all" },
  "balance.see": everybody,
  "billing.see": { owner: "all", admin: "all", billing: "all", operator: "all" },
  "billing.change": { owner: "all", billing: "all" },
  "team.see": { owner: "all", admin: "all", operator: "all" },
  /** Which members: see `mayGive`. An admin changes everybody but owners. */
  "team.change": { owner: "all", admin: "all", operator: "all" },
  "research.see": everybody,
  "research.ask": { owner: "all", admin: "all", developer: "all" },
  "alerts.see": { owner: "all", admin: "all", billing: "all", operator: "all" },
  "alerts.change": { owner: "all", admin: "all", billing: "all", operator: "all" },
  /** `own` for billing: entries about money; for a developer: entries that they caused. */
  "audit.see": { owner: "all", admin: "all", billing: "own", developer: "own", operator: "all" },
  "settings.see": everybody,
  "settings.change": { owner: "all", admin: "all" },
  /** Everything under `/app/v1/operator`. */
  operate: { operator: "all" },
} as const satisfies Record<string, Row>;

export type Action = keyof typeof ACTIONS;
type Allowed<A extends Action> = (typeof ACTIONS)[A][keyof (typeof ACTIONS)[A]];
/** The actions that some standing may do only on its own things. */
export type OwnAction = { [A in Action]: "own" extends Allowed<A> ? A : never }[Action];

/** What a person of this standing may do of an action; null: nothing. */
export function allowance(standing: Standing, action: Action): Allowance | null {
  const row: Row = ACTIONS[action];
  return row[standing] ?? null;
}

/**
 * Whether somebody of this standing may give this role, and so also take it away or withdraw an offer of it. Operators manage the
 * members of every organization (docs/decisions/0084-operators-see-to-teams-and-alerts.md).
 */
export function mayGive(standing: Standing, role: Role): boolean {
  if (standing === "operator") return true;
  return allowance(standing, "team.change") !== null && (role !== "owner" || standing === "owner");
}
