import { counted } from "../../../format/count.ts";

const times = (count: string): string => (count === "1" ? "Once" : counted(count, "time"));

export const operatorProvidersTexts = {
  lead: "The providers configured in tollgate.yaml and how they are doing. Configuration stays in the file; secrets are never shown.",
  empty: "No provider is configured.",
  secretSet: "secret set",
  noSecret: "no secret",
  running: "Requests running",
  variance: "Paid by the platform, 30 days",
  errors: "Failed calls, 24 hours",
  noErrors: "none",
  failed: (attempts: string, why: string) => `${attempts} ${why.replaceAll("_", " ")}`,
  doubts: "Reports we did not believe, last 24 hours",
  doubt: {
    usage_clamped: (attempts: string) =>
      `${times(attempts)} it reported more tokens than were quoted. Customers pay no more than the quote; the platform pays the rest.`,
    usage_below_delivered: (attempts: string) =>
      `${times(attempts)} it reported far fewer tokens than it delivered. What was delivered was counted and charged.`,
    output_above_maximum: (attempts: string) =>
      `${times(attempts)} it went past its output maximum. Answers were cut there. Check dialect.output_maximum in tollgate.yaml first: the provider may not know that name.`,
  },
  routesOf: (provider: string) => `Routes of ${provider}`,
  lastProbe: "Last probe",
  notProbed: "not probed",
  answered: "answered",
  failing: "failed",
  probe: "Probe now",
  probeOf: (provider: string) => `Probe now: ${provider}`,
  well: (span: string) => `It answered after ${span}.`,
  unwell: (span: string) => `It did not answer properly; the probe ended after ${span}.`,
  open: "Take out of service",
  openOf: (provider: string) => `Take out of service: ${provider}`,
  openHelp:
    "New requests stop going to this provider, within two seconds at every gateway. Running answers finish. It stays out, even after a restart, until someone puts it back.",
  account: {
    quota: (provider: string) => `The account at ${provider} is out of quota or credit`,
    account: (provider: string) => `${provider} refuses this gateway's key or account`,
  },
  accountHelp: {
    quota:
      "Its routes are closed, and other routes of its models are tried. Add credit or quota there; one request at a time tests whether it helped.",
    account:
      "Its routes are closed, and other routes of its models are tried. Check its api_key and the account's rights there; one request at a time tests whether it helped.",
  },
  opened: "Taken out of service by hand",
  close: "Put back into service",
  closeOf: (provider: string) => `Put back into service: ${provider}`,
  closeHelp: "Requests may go to this provider again. From then on its calls decide whether it stays open.",
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
