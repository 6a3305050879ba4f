// Texts that more than one page shows. One word per idea, the same as in the documentation and the API.
import type { ActivityState } from "../../src/domain/activity-states.ts";
import { counted } from "../format/count.ts";
import { formatTime } from "../format/time.ts";

export const stateTexts = {
  loading: "Loading",
  failed: "Something went wrong",
  forbidden: "Your role does not permit this",
  retry: "Try again",
  unreachableCode: "unreachable",
  otherVersion: "The gateway and this page are different versions",
  otherVersionHelp:
    "The gateway was updated after this page was loaded, or is being updated now. Reload the page; if that does not help, try again in a minute.",
  anew: "Reload the page",
  notFound: "Page not found",
  home: "Go to the start page",
  signedOut: "Your session has ended",
  signInAgain: "Sign in again to continue",
  signInAgainAction: "Sign in again",
  signInAgainHelp:
    "Signing in opens a new tab, and what you typed stays here. Come back and press the button again.",
  secondFactorNeeded: "A second factor is needed",
  secondFactorAction: "Set it up",
  stale: "old",
  updated: (span: string) => `Updated ${span} ago.`,
  reconnecting: "Reconnecting",
  former: "Loading. This is still the previous data.",
  renewing: "previous data, refreshing",
  unread: (what: string) => `Could not be read: ${what}`,
} as const;

export const pageTexts = {
  fallen: (asked: readonly string[]) =>
    `The address asks for ${asked.map((one) => `“${one}”`).join(", ")}, which this page does not know and ignores.`,
  leaveOut: "Remove from the address",
} as const;

export const tableTexts = {
  more: "Show more",
  columns: (count: number) => (count === 1 ? "Show one more column" : `Show ${count} more columns`),
  fewerColumns: "Show fewer columns",
  /** The server has further rows, which are not sorted. */
  ordered: (rows: string) => `Sorted among these ${rows} rows only; the rest are not loaded.`,
  noMatch: "Nothing matches the filters.",
  nothing: "Nothing yet.",
  clear: "Clear filters",
  filters: "Filters",
  organization: "Organization",
  all: "All",
  fewerFilters: "Fewer filters",
} as const;

export const copyTexts = {
  copy: "Copy",
  copied: "Copied",
  byHand: "The browser does not allow copying here. Copy the text by hand:",
  text: "Text to copy",
} as const;

export const dialogTexts = {
  cancel: "Cancel",
  close: "Close",
  save: "Save",
  lose: "What you typed has not been saved.",
  stay: "Keep editing",
  discard: "Discard",
  typeName: "Type the name to confirm",
  typeEmail: "Type the email address to confirm",
  orId: (id: string) => `Or its id: ${id}`,
} as const;

export const rateTexts = {
  title: "Rate limits",
  lead: "They apply across all gateways, from the next request on. You can set limits lower than the operator allows; leave a field blank to lift your own.",
  leadOfOperator:
    "What this organization may use, across all gateways, from the next request on. Its admins can set lower limits; leave a field blank to lift yours.",
  by: "Set",
  words: { operator: "what the operator allows", organization: "the organization's own, up to that" },
  leadOfModel:
    "What each organization may use of this model, across all gateways, from the next request on. Its admins can set lower limits; leave a field blank to lift yours.",
  dimensions: {
    requests_per_minute: "Requests per minute",
    tokens_per_minute: "Tokens per minute",
    concurrent: "Requests at once",
  },
  model: "Model",
  allModels: "all models together",
  none: "none",
  noLimit: "No limit applies.",
  ofYourOwn: (count: string) => `${count} applies, set by the organization.`,
  ofTheOperator: (count: string) => `${count} applies, set by the operator.`,
  byDefault: (count: string) => `${count} applies, the gateway's default.`,
  running: (count: string) => `${count} running now.`,
} as const;

export const meanwhileTexts = {
  title: "Someone else changed this in the meantime",
  lead: "Your changes were not saved. This is the current state; saving anyway replaces it with what you typed.",
  saveAnyway: "Save anyway",
  discard: "Discard my changes",
  none: "none",
  yes: "on",
  no: "off",
} as const;

export const shellTexts = {
  product: "Tollgate",
  skip: "Skip to content",
  menu: "Menu",
  organization: "Organization",
  operator: "Operator",
  operatorArea: "Operator pages",
  away: (since: string) =>
    `The gateway has not answered since ${since}. What you see is the last it sent; the page keeps retrying.`,
  viewing:
    "You are viewing this organization as an operator. Its audit log records your changes under your name.",
  allOrganizations: "All organizations",
  noMember:
    "You are not a member of this organization, or it does not exist. Whoever manages its team can invite you.",
  back: "My organization",
  account: "Account",
  signOut: "Sign out",
  find: "Find",
  theme: "Theme",
  light: "Light",
  dark: "Dark",
  system: "Follow system",
  main: "Main navigation",
  groups: {
    build: "Build",
    monitor: "Monitor",
    manage: "Manage",
    customers: "Customers",
    platform: "Platform",
  },
} as const;

export const shortcutTexts = {
  title: "Keyboard shortcuts",
  search: "Search",
  goTo: (page: string) => `Go to ${page}`,
  next: "Next row, or the older request",
  previous: "Previous row, or the newer request",
  list: "This list",
  find: "Find anything, from anywhere",
  on: "Use shortcuts",
  onHelp: "For this browser. They are inactive while you type in a field.",
} as const;

export const pageNames = {
  overview: "Overview",
  keys: "Keys",
  usage: "Usage",
  activity: "Activity",
  billing: "Billing",
  models: "Models",
  playground: "Playground",
  research: "Research Mode",
  team: "Team",
  alerts: "Alerts",
  audit: "Audit",
  settings: "Settings",
} as const;

export const operatorPageNames = {
  home: "Home",
  organizations: "Organizations",
  requests: "Requests",
  credits: "Credits",
  routes: "Releases and routes",
  entitlements: "Entitlements",
  providers: "Providers",
  health: "System health",
  ledger: "Ledger audit",
  people: "People",
  audit: "Audit",
  account: "Account",
} as const;

/** Only charged requests, as counted in Usage, statements and every other sum of charges. */
export const chargedTexts = {
  requests: "Charged requests",
  count: (count: string | number) => counted(count, "charged request"),
} as const;

/** The outcome of a request in words; the same on every page. */
export const activityStateNames: Record<ActivityState, string> = {
  running: "running",
  settled: "succeeded",
  cut_short: "cut short, charged",
  released: "failed, not charged",
  outcome_unknown: "outcome unknown",
  refused: "rejected",
  replay: "repeated",
};

/** A route's circuit breaker: whether calls go through. */
export const circuitNames = { closed: "go through", open: "stopped", half_open: "one at a time" } as const;

/** Actors that are neither a person nor a key: the log, and who credited a purchase, use the same names. */
export const actorNames: Readonly<Record<string, string>> = {
  installation: "The installation's key",
  recovery: "The gateway, finding what a crash left,",
  start: "The gateway at its start",
  "first start": "The gateway at its first start",
  demo: "The gateway's demo",
  stripe: "Stripe",
  test: "A test payment",
  manual: "A payment by hand",
  seed: "The seed command",
};

export const figureTexts = {
  view: "View",
  chart: "Chart",
  table: "Table",
  soFar: (label: string) => `${label}, so far`,
  buckets: { hour: "UTC hours", day: "UTC days" },
  time: "Time (UTC)",
} as const;

export const secretTexts = {
  title: "Your new key",
  once: "This is the only time the key is shown. Tollgate keeps a digest of it, not the key.",
  stored: "I have stored it",
  done: "Done",
  env: "Download .env",
  use: "Use it",
  noModel: "MODEL",
  replayed:
    "This was created, but its secret did not arrive here and cannot be shown again. Delete it and create another.",
} as const;

export const onceTexts = {
  leaving: "This is shown only once. If you leave without storing it, it is lost.",
  stay: "Stay",
  leave: "Leave",
} as const;

export const rangeNames = {
  "24h": "24 hours",
  "7d": "7 days",
  "30d": "30 days",
  month: "This month (UTC)",
} as const;

export const rangeChoiceTexts = {
  label: "Time",
  ranges: { "24h": "24 h", "7d": "7 d", "30d": "30 d", month: "Month" },
} as const;

export const windowTexts = {
  label: "Time (UTC)",
  all: "All time",
  named: { today: "Today (UTC)", yesterday: "Yesterday (UTC)", last: "Last month (UTC)" },
  own: "Custom days",
  from: "First day (UTC)",
  to: "Last day (UTC)",
} as const;

export const spendFilterTexts = {
  key: "Key",
  model: "Model",
  all: "All",
  revoked: (name: string) => `${name} (revoked)`,
  clear: (label: string) => `Clear ${label.toLowerCase()}`,
} as const;

export const accountFormTexts = {
  name: "Your name",
  email: "Email",
  password: "Password",
  passwordHelp: "At least 10 characters.",
  show: "Show or hide the password",
} as const;

export const secondFactorTexts = {
  code: "Code from your authenticator app",
  verify: "Verify",
} as const;

export const answerTexts = {
  phases: {
    sending: "sending",
    waiting: "waiting for the first token",
    streaming: "streaming",
    settled: "succeeded",
    stopped: "stopped",
    refused: "rejected",
    cut: "cut short",
    unknown: "outcome unknown",
  },
  unknownHelp:
    "No complete answer arrived. The request may still have run and been charged; before you send it again,",
  unknownWay: "look in Activity.",
  reasoning: "Reasoning",
  calls: (name: string) => `Calls ${name}`,
  arguments: (name: string) => `Arguments of ${name}`,
  held: "held",
  soFar: "so far",
  about: "about",
  wasHeld: "was held",
  charged: "charged",
  heldThen: "held",
  chargedThen: "charged",
  waited: "waited",
  first: (span: string) => `first token after ${span}`,
  total: (span: string) => `${span} in all`,
  tokens: (count: string, exact: boolean) => `${exact ? "" : "about "}${counted(count, "output token")}`,
  pace: (perSecond: number) => `${perSecond} per second`,
  stoppedHelp:
    "You stopped it. What had been delivered is charged and the rest of the hold is returned; its row in Activity shows the amount.",
  gateway: "The gateway object",
  next: {
    billing: "Add credits",
    key: "Look at the key",
    keys: "Look at the keys",
    research: "Research Mode",
    model: "Look at the model",
    models: "Look at the models",
  },
} as const;

export const linkTexts = {
  once: (until: string) =>
    `This is the only time the link is shown. It works once, until ${formatTime(until)}.`,
  mailed: "The link was mailed to this address. Here it is again, in case the mail does not arrive.",
  notMailed: (reason: string | null) => `No mail was sent. ${reason ?? ""}`,
  shownBefore:
    "This had already been done, but its link did not arrive here and cannot be shown again. Ask for a new one.",
} as const;

/** For an amount against the previous period. */
export const changeTexts = {
  before: (amount: string) => `${amount} in the previous period`,
  new: "new",
  same: "as before",
} as const;
