import { counted } from "../../../format/count.ts";

const times = (count: string): string => (count === "1" ? "Once" : counted(count, "time"));

export const operatorProvidersTexts = {
  lead: "What tollgate.yaml configures and how it answers. Configuration stays in the file; secrets are never shown.",
  empty: "No provider is configured.",
  secretSet: "secret set",
  noSecret: "no secret",
  running: "Requests running",
  variance: "Paid by the platform, 30 days",
  errors: "Failed calls, 24 hours",
  noErrors: "none",
  failed: (attempts: string, why: string) => `${attempts} ${why.replaceAll("_", " ")}`,
  doubts: "What it reported was not believed, last 24 hours",
  doubt: {
    usage_clamped: (attempts: string) =>
      `${times(attempts)} it reported more tokens than were quoted. Customers pay no more than the quote; what it bills beyond that is the platform's.`,
    usage_below_delivered: (attempts: string) =>
      `${times(attempts)} it reported far fewer tokens than it delivered. What was delivered was counted and charged.`,
    output_above_maximum: (attempts: string) =>
      `${times(attempts)} it went past its output maximum. Answers were cut there. Look at dialect.output_maximum in tollgate.yaml first: it may not know that name.`,
  },
  routesOf: (provider: string) => `Routes of ${provider}`,
  lastProbe: "Last probe",
  notProbed: "not probed",
  answered: "answered",
  failing: "failed",
  probe: "Probe now",
  probeOf: (provider: string) => `Probe now: ${provider}`,
  well: (span: string) => `It answered after ${span}.`,
  unwell: (span: string) => `It did not answer well; the probe ended after ${span}.`,
  open: "Take out of service",
  openOf: (provider: string) => `Take out of service: ${provider}`,
  openHelp:
    "No request goes to this provider from the next one on, within two seconds at every gateway. Running answers finish. It stays out, also after a restart, until somebody puts it back.",
  account: {
    quota: (provider: string) => `The account at ${provider} is out of quota or credit`,
    account: (provider: string) => `${provider} refuses this gateway's key or account`,
  },
  accountHelp: {
    quota:
      "Its routes are closed, other routes of its models are tried. Add credit or quota there; one request at a time tries whether it helped.",
    account:
      "Its routes are closed, other routes of its models are tried. Check its api_key and the account's rights there; one request at a time tries whether it helped.",
  },
  opened: "Taken out of service by hand",
  close: "Put back into service",
  closeOf: (provider: string) => `Put back into service: ${provider}`,
  closeHelp: "Requests may go to this provider again. From then on its calls decide again.",
  reason: "Reason",
  noReason: "no reason given",
  columns: {
    route: "Route",
    state: "State",
    circuit: "Calls",
    failures: "Failures in a row",
    probe: "Next probe",
  },
} as const;
