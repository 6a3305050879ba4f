// The alerts room with its figures and its two rounds in the background.
import type { Config } from "../config/config.ts";
import { Alerts } from "../alerts/alerts.ts";
import type { MailPorts } from "../alerts/mail/channel.ts";
import { Mailer } from "../alerts/mail/mailer.ts";
import type { ResolveHost } from "../alerts/target.ts";
import type { Figures } from "../alerts/readings.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Clock } from "../lib/clock.ts";
import type { Jobs } from "../lib/jobs.ts";
import type { People } from "../people/people.ts";
import type { Payments } from "../payments/payments.ts";
import type { RouteTable } from "../releases/route-table.ts";
import { moneyOf, numberOf, type Sql } from "../store/sql.ts";
import { keysOf } from "../registry/api-keys.ts";
import { readUsageRows } from "../registry/requests.ts";

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
  /** Where people reach the dashboard. */
  dashboardUrl(): string;
  resolveHost?: ResolveHost;
}

const WATCH_EVERY_MS = 15_000;
const DELIVER_EVERY_MS = 2_000;
const WEEK_MS = 7 * 86_400_000;

export function openAlerts(config: Config, on: AlertsOn): OpenAlerts {
  const { alerts } = config;
  const room = new Alerts({
    sql: on.sql,
    dataKey: on.dataKey,
    figuresOf: (organizationId) => figuresOf(organizationId, on),
    nowMs: () => on.clock.nowMs(),
    to: { privateTargets: alerts.privateTargets, ...(on.resolveHost && { resolveHost: on.resolveHost }) },
    mail: mailOf(config, on),
  });
  const { jobs } = on;
  const watching = jobs.every("alerts_watch", WATCH_EVERY_MS, () =>
    room.watch((error) => jobs.failed("alerts_watch", error)),
  );
  const delivering = jobs.every("alerts_deliver", DELIVER_EVERY_MS, () =>
    room.deliver((error) => jobs.failed("alerts_deliver", error)),
  );
  return {
    room,
    stop: async () => {
      await Promise.all([watching.stop(), delivering.stop()]);
    },
  };
}

function mailOf({ mail }: Config, on: AlertsOn): MailPorts | null {
  if (mail === null) return null;
  const mailer = new Mailer(mail, (error) => on.jobs.failed("alerts_mail", error));
  return {
    send: (message) => mailer.send(message),
    isMember: async (organizationId, address) => {
      const people = await on.people();
      const person = await people.personNamed(address);
      return person !== null && (await people.membership(organizationId, person.id)) !== null;
    },
    pageOf: (organizationId) => `${on.dashboardUrl()}/o/${organizationId}/alerts`,
  };
}

function figuresOf(organizationId: string, { ledger, routeTable, payments, sql, clock }: AlertsOn): Figures {
  const nowMs = (): number => clock.nowMs();
  return {
    nowMs,
    balance: () => ledger.balance(organizationId),
    keys: () => keysOf(ledger, organizationId),
    spentSince: async (fromMs) => {
      const [total] = await readUsageRows(ledger, { organizationId, fromMs });
      return total?.charge ?? moneyOf(0);
    },
    outcomesSince: async (sinceMs) => {
      // Request ids begin with their time, so this reads the past hour and nothing else.
      const since = `req_${sinceMs.toString(16).padStart(12, "0")}`;
      const [row] = await sql.rows(
        `SELECT count(*) AS requests, coalesce(sum(CASE WHEN state = 'released' OR status >= 500 THEN 1 ELSE 0 END), 0) AS failed
         FROM request WHERE org_id = ?1 AND request_id >= ?2 AND state <> 'dispatched'`,
        organizationId,
        since,
      );
      return { requests: numberOf(row?.["requests"]), failed: numberOf(row?.["failed"]) };
    },
    routes: async () => {
      const used = await readUsageRows(ledger, {
        organizationId,
        fromMs: nowMs() - WEEK_MS,
        groupBy: "model",
      });
      return used.flatMap(({ group }) =>
        (group === null ? [] : (routeTable.model(group)?.routes ?? [])).map(({ release, state }) => ({
          route: release.route,
          model: release.model,
          state,
          expiresAtMs: release.expiresAtMs,
        })),
      );
    },
    topUpFailure: async () => (await payments.automatic.find(organizationId))?.lastFailure ?? null,
  };
}
