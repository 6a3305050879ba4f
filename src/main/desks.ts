// Payments and alerts, opened together, with the use-cases that the dashboard's API and the operator's ask of them.
import type { Alerts } from "../alerts/alerts.ts";
import type { Config } from "../config.ts";
import type { AlertDesk } from "../contract/alert-desk.ts";
import type { PaymentDesk } from "../contract/payment-desk.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Clock } from "../lib/clock.ts";
import { alertDesk } from "../operator/alerts.ts";
import { auditNotes } from "../operator/desk/audit-notes.ts";
import { paymentDesk } from "../operator/payments.ts";
import type { Payments } from "../payments/payments.ts";
import type { Shelf } from "../releases/shelf.ts";
import type { Sql } from "../store/sql.ts";
import { openAlerts } from "./alerts.ts";
import { openPayments } from "./payments.ts";

export interface Desks {
  payments: Payments;
  alerts: Alerts;
  paymentDesk: PaymentDesk;
  alertDesk: AlertDesk;
  /** Ends the rounds in the background. */
  stop(): Promise<void>;
}

interface DesksOn {
  sql: Sql;
  dataKey: Uint8Array;
  ledger: Ledger;
  shelf: Shelf;
  clock: Clock;
  /** Where this process answers; known once the port is open. */
  address: () => string;
  failed: (error: unknown) => void;
}

export function openDesks(config: Config, on: DesksOn): Desks {
  const payments = openPayments(config, on);
  const alerts = openAlerts(config, { ...on, payments: payments.room });
  const nowMs = (): number => on.clock.nowMs();
  const { note } = auditNotes(on.sql, on.clock);
  const dashboardUrl = (): string => config.publicUrl ?? on.address();
  return {
    payments: payments.room,
    alerts: alerts.room,
    paymentDesk: paymentDesk({ payments: payments.room, note, nowMs, dashboardUrl }),
    alertDesk: alertDesk({ alerts: alerts.room, note, nowMs }),
    stop: async () => {
      await Promise.all([payments.stop(), alerts.stop()]);
    },
  };
}
