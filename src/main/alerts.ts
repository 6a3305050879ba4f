// The alerts room with its figures and its two background rounds.
import type { Config } from "../config/config.ts";
import { Alerts } from "../alerts/alerts.ts";
import type { MailPorts } from "../alerts/mail/channel.ts";
import { Mailer } from "../alerts/mail/mailer.ts";
import type { ResolveHost } from "../alerts/target.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Clock } from "../lib/clock.ts";
import type { Jobs } from "../lib/jobs.ts";
import { within } from "../lib/within.ts";
import type { People } from "../people/people.ts";
import type { Payments } from "../payments/payments.ts";
import type { RouteTable } from "../releases/route-table.ts";
import type { Sql } from "../store/sql.ts";
import { lookOn } from "./alert-figures.ts";

export interface OpenAlerts {
  room: Alerts;
  stop(): Promise<void>;
}

interface AlertsOn {
  sql: Sql;
  dataKey: Uint8Array;
  ledger: Ledger;
  routeTable: RouteTable;
  payments: Payments;
  clock: Clock;
  jobs: Jobs;
  people(): Promise<People>;
  /** The dashboard's URL. */
  dashboardUrl(): string;
  resolveHost?: ResolveHost;
}

const WATCH_EVERY_MS = 15_000;
const DELIVER_EVERY_MS = 2_000;
/**
 * At a stop, deliveries under way may finish within this time; one that hangs is sent again a minute later by
 * another gateway or run.
 */
const DELIVERED_WITHIN_MS = 3_000;

export function openAlerts(config: Config, on: AlertsOn): OpenAlerts {
  const { alerts } = config;
  const room = new Alerts({
    sql: on.sql,
    dataKey: on.dataKey,
    look: () => lookOn(on),
    nowMs: () => on.clock.nowMs(),
    to: { privateTargets: alerts.privateTargets, ...(on.resolveHost && { resolveHost: on.resolveHost }) },
    mail: mailOf(config, on),
  });
  const { jobs } = on;
  const watching = jobs.every("alerts_watch", WATCH_EVERY_MS, async () => {
    if (await on.ledger.leads()) await room.watch((error) => jobs.failed("alerts_watch", error));
  });
  const delivering = jobs.every("alerts_deliver", DELIVER_EVERY_MS, () =>
    room.beginDeliveries((error) => jobs.failed("alerts_deliver", error)),
  );
  return {
    room,
    stop: async () => {
      await Promise.all([watching.stop(), delivering.stop()]);
      await within(room.delivered(), DELIVERED_WITHIN_MS);
    },
  };
}

function mailOf({ mail }: Config, on: AlertsOn): MailPorts | null {
  if (mail === null) return null;
  const mailer = new Mailer(mail, (error) => on.jobs.failed("alerts_mail", error));
  return {
    send: (message) => mailer.send(message),
    standing: async (organizationId, address) => {
      const people = await on.people();
      const person = await people.personNamed(address);
      if (person === null || (await people.membership(organizationId, person.id)) === null) return "stranger";
      return person.proven ? "member" : "unproven";
    },
    pageOf: (organizationId) => `${on.dashboardUrl()}/o/${organizationId}/alerts`,
  };
}
