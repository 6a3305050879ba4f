// The operator API of management keys, loaded on its first request: it is large, and most gateways do not
// need it when they start.
import type { SendMail } from "../alerts/mail/message.ts";
import type { ReceiptSigner } from "../gateway/signed-receipt.ts";
import type { RateDefaults } from "../domain/rate-limits.ts";
import type { Handler } from "../http/context.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Clock } from "../lib/clock.ts";
import { openedOnce } from "../lib/opened-once.ts";
import type { Uploads } from "../limits/uploads.ts";
import type { AlertService } from "../operator/alerts.ts";
import type { PaymentService } from "../operator/payments.ts";
import type { People } from "../people/people.ts";
import type { ManagementKeyDoor } from "../registry/management-keys.ts";
import type { Publisher } from "../releases/publish.ts";
import type { ReadingTurns } from "../store/reading-turns.ts";
import type { Sql } from "../store/sql.ts";

interface AdminPorts {
  ledger: Ledger;
  sql: Sql;
  reading: ReadingTurns;
  clock: Clock;
  uploads: Uploads;
  managementKeys: ManagementKeyDoor;
  publisher: Publisher;
  receipts: ReceiptSigner;
  rateDefaults: RateDefaults;
  payments: PaymentService;
  /** Writes what the request log has gathered, so that readers see recent requests. */
  flushRequestLog(): Promise<void>;
  people(): Promise<People>;
  /** Null if no mail server is configured. */
  sendMail: SendMail | null;
  alertService: AlertService;
  /** The dashboard's URL. */
  url(): string;
}

/** Opened by the first request; if that fails, the request fails, and the next one tries again. */
export function adminHandler(on: AdminPorts): Handler {
  const opened = openedOnce(() => open(on));
  return async ({ request, requestId, receivedAtMs, address, setIdleTimeout, sending }) => {
    const visitor = { headers: request.headers, address };
    return (await opened())(request, { visitor, requestId, receivedAtMs, setIdleTimeout, sending });
  };
}

async function open(on: AdminPorts) {
  const [{ createAdminApp }, { createOperator }, { accounts }] = await Promise.all([
    import("../http/api/admin.ts"),
    import("../operator/operator.ts"),
    import("../operator/people.ts"),
  ]);
  const people = accounts({ people: () => on.people(), url: () => on.url() });
  const through = (sql: Sql) => ({
    operator: createOperator({ ...on, sql, people, persons: () => on.people() }),
    alerts: on.alertService,
  });
  const changing = through(on.sql);
  return createAdminApp({
    uploads: on.uploads,
    doors: { ledger: on.ledger, ...on.managementKeys },
    people: () => on.people(),
    rooms: (asker) => through(on.reading.as(asker)),
    changing: () => changing,
  });
}
