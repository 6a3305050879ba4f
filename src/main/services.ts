// Payments, alerts and the expiry of keys, opened together, with the use-cases that the dashboard's API and
// the operator's API call.
import type { Alerts } from "../alerts/alerts.ts";
import { Mailer } from "../alerts/mail/mailer.ts";
import type { SendMail } from "../alerts/mail/message.ts";
import type { Config } from "../config/config.ts";
import { byItself } from "../domain/actor.ts";
import type { Jobs } from "../lib/jobs.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Clock } from "../lib/clock.ts";
import { type AlertService, alertService } from "../operator/alerts.ts";
import { findKey } from "../registry/api-keys.ts";
import { endExpiredKeys } from "../registry/key-life.ts";
import { auditNotes } from "../registry/audit-notes.ts";
import { type PaymentService, paymentService } from "../operator/payments.ts";
import type { People } from "../people/people.ts";
import type { Payments } from "../payments/payments.ts";
import type { RouteTable } from "../releases/route-table.ts";
import type { Sql } from "../store/sql.ts";
import { openAlerts } from "./alerts.ts";
import { openPayments } from "./payments.ts";

export interface Services {
  payments: Payments;
  alerts: Alerts;
  paymentService: PaymentService;
  alertService: AlertService;
  /** Null if no mail server is configured. */
  sendMail: SendMail | null;
  /** Ends the background rounds. */
  stop(): Promise<void>;
}

/**
 * How long after its expiry a version that knows no expiry may still serve a key
 * (docs/decisions/0059-settings-of-keys.md).
 */
const EXPIRE_EVERY_MS = 30_000;

interface ServicesOn {
  sql: Sql;
  dataKey: Uint8Array;
  ledger: Ledger;
  routeTable: RouteTable;
  clock: Clock;
  /** The address of this process; known once the port is open. */
  address: () => string;
  jobs: Jobs;
  /** Opened on first use. */
  people: () => Promise<People>;
}

/** Starts the background rounds, which run until `stop`. */
export function openServices(config: Config, on: ServicesOn): Services {
  const payments = openPayments(config, on);
  const dashboardUrl = (): string => config.publicUrl ?? on.address();
  const alerts = openAlerts(config, { ...on, payments: payments.room, dashboardUrl });
  const ending = on.jobs.every("keys_expire", EXPIRE_EVERY_MS, async () => {
    await endExpiredKeys(on.ledger, byItself("expiry"));
  });
  const nowMs = (): number => on.clock.nowMs();
  const { note } = auditNotes(on.sql, on.clock);
  return {
    payments: payments.room,
    alerts: alerts.room,
    paymentService: paymentService({ payments: payments.room, note, nowMs, dashboardUrl }),
    alertService: alertService({
      alerts: alerts.room,
      note,
      nowMs,
      keyOf: (key) => findKey(on.ledger, key),
    }),
    sendMail: linkMailer(config, on.jobs),
    stop: async () => {
      await Promise.all([payments.stop(), alerts.stop(), ending.stop()]);
    },
  };
}

/** Has its own connections: invitations and alerts do not wait for each other. */
function linkMailer({ mail }: Config, jobs: Jobs): SendMail | null {
  if (mail === null) return null;
  const mailer = new Mailer(mail, (error) => jobs.failed("invitations_mail", error));
  return (message) => mailer.send(message);
}
