// Texts of what more than one page shows. One word per idea, the same as in the documentation and the API.
import type { ActivityState } from "../../src/domain/activity-states.ts";
import { counted } from "../format/count.ts";
import { formatTime } from "../format/time.ts";

export const stateTexts = {
  loading: "Loading",
  failed: "This did not work",
  forbidden: "Your role does not permit this",
  retry: "Try again",
  unreachableCode: "unreachable",
  otherVersion: "The gateway and this page are of different versions",
  otherVersionHelp:
    "It was updated since the page was loaded, or is being updated now. Load the page anew; where that does not help, try again in a minute.",
  anew: "Load the page anew",
  notFound: "There is no such page",
  home: "Go to the start page",
  signedOut: "Your session has ended",
  signInAgain: "Sign in again first",
  signInAgainAction: "Sign in again",
  signInAgainHelp: "It opens in a new tab; what you typed stays here. Then press the button here again.",
  secondFactorNeeded: "A second factor is needed",
  secondFactorAction: "Set it up",
  stale: "old",
  updated: (span: string) => `Updated ${span} ago.`,
  reconnecting: "Reconnecting",
  former: "Loading. What stands here is of before.",
  renewing: "of before, being renewed",
  unread: (what: string) => `Could not be read: ${what}`,
} as const;

export const pageTexts = {
  fallen: (asked: readonly string[]) =>
    `The address asks for ${asked.map((one) => `“${one}”`).join(", ")}, which this page does not know: it shows what it would without.`,
  leaveOut: "Remove it from the address",
} as const;

export const tableTexts = {
  more: "Show more",
  columns: (count: number) => (count === 1 ? "Show one more column" : `Show ${count} more columns`),
  fewerColumns: "Show fewer columns",
  /** The server has further rows, which the order knows nothing of. */
  ordered: (rows: string) => `In order among these ${rows} rows; further ones are not loaded.`,
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
  byHand: "The browser lets no page copy here. This is the text, to be copied by hand:",
  text: "Text to copy",
} as const;

export const dialogTexts = {
  cancel: "Cancel",
  close: "Close",
  save: "Save",
  lose: "What you typed is not saved.",
  stay: "Go on typing",
  discard: "Discard it",
  typeName: "Type the name to confirm",
  typeEmail: "Type the email address to confirm",
  orId: (id: string) => `Or its id: ${id}`,
} as const;

export const rateTexts = {
  title: "Rate limits",
  lead: "On all gateways together, from the next request on. You may go lower than the operator allows; a blank field lifts what you set.",
  leadOfOperator:
    "What this organization is allowed, on all gateways together, from the next request on. Its admins may go lower; a blank field lifts what you set.",
  by: "Set",
  words: { operator: "what the operator allows", organization: "the organization's own, at most that" },
  leadOfModel:
    "What each organization by itself is allowed of this model, on all gateways together, from the next request on. Its admins may go lower; a blank field lifts what you set.",
  dimensions: {
    requests_per_minute: "Requests per minute",
    tokens_per_minute: "Tokens per minute",
    concurrent: "Requests at once",
  },
  model: "For the model",
  allModels: "all models together",
  none: "none",
  noLimit: "No limit holds.",
  ofYourOwn: (count: string) => `${count} holds, the organization's own.`,
  ofTheOperator: (count: string) => `${count} holds, set by the operator.`,
  byDefault: (count: string) => `${count} holds, the gateway's default.`,
  running: (count: string) => `${count} running now.`,
} as const;

export const meanwhileTexts = {
  title: "Somebody else changed this meanwhile",
  lead: "Nothing of yours was saved. This is how it stands now; saving anyway replaces it by what you typed.",
  saveAnyway: "Save anyway",
  discard: "Discard what I typed",
  none: "none",
  yes: "on",
  no: "off",
} as const;

export const shellTexts = {
  product: "Tollgate",
  skip: "Skip to the content",
  menu: "Menu",
  organization: "Organization",
  operator: "Operator",
  operatorArea: "Operator pages",
  away: (since: string) =>
    `The gateway has not answered since ${since}. What you see is from before; it is asked again by itself.`,
  viewing: "You look at this organization as an operator. What you change is in its audit under your name.",
  allOrganizations: "All organizations",
  noMember:
    "You are no member of this organization, or it does not exist. Who manages its team can invite you.",
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
  next: "Next row; the older request",
  previous: "Previous row; the newer request",
  list: "This list",
  find: "Go to or find, from anywhere",
  on: "Use shortcuts",
  onHelp: "For this browser. They never act in fields.",
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

/** Those that the ledger charged, as Usage, statements and everything else that adds up charges count them. */
export const chargedTexts = {
  requests: "Charged requests",
  count: (count: string | number) => counted(count, "charged request"),
} as const;

/** What became of a request, in words; the same on every page. */
export const activityStateNames: Record<ActivityState, string> = {
  running: "running",
  settled: "succeeded",
  cut_short: "cut short, charged",
  released: "failed, not charged",
  outcome_unknown: "outcome unknown",
  refused: "rejected",
  replay: "repeated",
};

/** Of a route's breaker: whether calls go through it. */
export const circuitNames = { closed: "go through", open: "stopped", half_open: "one at a time" } as const;

/** What acts without being a person or a key: the log, and who credited a purchase, name them alike. */
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
    "This was made, but its secret did not arrive here and is not shown again. Take it away and make another one.",
} as const;

export const onceTexts = {
  leaving: "This is the only time this is shown. Whoever leaves now without having stored it has lost it.",
  stay: "Stay",
  leave: "Leave it",
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
  own: "Days of your own",
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
    "No whole answer arrived here. It may have run and been charged all the same; before sending it again,",
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
    "You stopped it. What was delivered until then is charged, the rest of the hold goes back; its row in Activity says how much.",
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
  mailed:
    "The link was sent to this address by mail. Here it is once more, for the case that the mail does not arrive.",
  notMailed: (reason: string | null) => `No mail was sent. ${reason ?? ""}`,
  shownBefore:
    "This was done already, but its link did not arrive here and is not shown again. Ask for a new one.",
} as const;

/** Of an amount against the period before. */
export const changeTexts = {
  before: (amount: string) => `${amount} in the same time before`,
  new: "new",
  same: "as before",
} as const;
