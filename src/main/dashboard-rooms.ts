// The rooms behind the dashboard, opened together: people, use-cases, readers, and the doors that call them.
// Loaded with everything that they need, on first use (`dashboard-api.ts`).
import type { SendMail } from "../alerts/mail/message.ts";
import type { Rooms as ApiRooms } from "../api/rooms.ts";
import type { Config } from "../config/config.ts";
import { fileChanged } from "../config/file-digest.ts";
import { shownSettings } from "../config/shown-settings.ts";
import { VERSION } from "../domain/program.ts";
import type { PreviewPorts } from "../gateway/preview.ts";
import { type ReceiptSigner, receiptSigner } from "../gateway/signed-receipt.ts";
import { createApp } from "../http/api/app.ts";
import { authHandler } from "../http/api/auth.ts";
import type { ApiHandler } from "../http/api/handler.ts";
import { playgroundOn, type PlaygroundPorts } from "../http/api/playground.ts";
import { tailResponse } from "../http/api/tail.ts";
import { deviceHandlers } from "../http/device.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Clock } from "../lib/clock.ts";
import { rateDefaultsOf } from "../limits/caller-limits.ts";
import { Tails } from "../limits/tails.ts";
import type { Uploads } from "../limits/uploads.ts";
import type { AlertService } from "../operator/alerts.ts";
import { createChanges } from "../operator/changes.ts";
import { DEVICE_INTERVAL_MS, devices } from "../operator/devices.ts";
import { createOperator, type Operator } from "../operator/operator.ts";
import type { PaymentService } from "../operator/payments.ts";
import { accounts } from "../operator/people.ts";
import { openPeople } from "../people/open.ts";
import type { People } from "../people/people.ts";
import type { Passwords } from "../people/sign-in.ts";
import { sessionSecret } from "../people/store.ts";
import { ownerOfManagementKey } from "../registry/management-keys.ts";
import { findOrganization } from "../registry/organizations.ts";
import { formerReceiptKeys } from "../registry/receipt-keys.ts";
import type { Breakers } from "../releases/breakers.ts";
import type { Health } from "../releases/health.ts";
import type { PeopleLines } from "./people-lines.ts";
import type { Publisher } from "../releases/publish.ts";
import { createReports, reportsThrough } from "../reporting/reports.ts";
import { lastBackup } from "../store/last-backup.ts";
import type { ReadingTurns } from "../store/reading-turns.ts";
import type { Sql } from "../store/sql.ts";

/** Sign-in settings with defaults, for tests that are not about them. */
export interface PeopleTerms {
  /** How passwords are hashed; default: scrypt. */
  passwords?: Passwords;
  /** The pause of a terminal between two polls of its login. */
  deviceIntervalMs?: number;
}

/** The parts of a gateway that its dashboard uses; none of them is closed with the dashboard. */
export interface PeopleRooms {
  ledger: Ledger;
  sql: Sql;
  reading: ReadingTurns;
  dataKey: Uint8Array;
  clock: Clock;
  publisher: Publisher;
  health: Health;
  breakers: Breakers;
  paymentService: PaymentService;
  alertService: AlertService;
  sendMail: SendMail | null;
  /** The address of this process. */
  address(): string;
  uploads: Uploads;
  answerOn: PlaygroundPorts["answerOn"];
  preview: PreviewPorts;
  startedAtMs: number;
  streamsOpen(): number;
  /** Aborts when the gateway stops and waits for open responses. */
  draining: AbortSignal;
  /** Writes what the request log has gathered, so that readers see recent requests. */
  flushRequestLog(): Promise<void>;
  /** Entries of the request log that were dropped for lack of room. */
  forgotten(): number;
  /** Requests refused with `overloaded` since the start. */
  overloadRefusals(): number;
  /** Failed runs of background work since the start, by job. */
  failedJobs(): ReadonlyMap<string, number>;
  peopleTerms: PeopleTerms;
  lines: Pick<PeopleLines, "carry" | "openStore">;
}

/** The doors of this room: the dashboard's API, sign-in, the two calls of a terminal that logs in. */
export type DashboardDoor = "app" | "auth" | "code" | "token";

/** The handler of each door, and the people who may come in. */
export interface DashboardRooms extends Record<DashboardDoor, ApiHandler> {
  people: People;
  close(): Promise<void>;
}

/** The dashboard's URL; pages of these origins may make changes. */
interface Reached {
  url: string;
  origins: string[];
}

/** The party of what changes look up. */
const CHANGES = "changes";

export async function openDashboardRooms(config: Config, rooms: PeopleRooms): Promise<DashboardRooms> {
  const { ledger, clock, draining } = rooms;
  const at = { url: config.publicUrl ?? rooms.address(), origins: originsOf(config, rooms.address()) };
  const people = await peopleOf(config, rooms, at);
  const logins = devices({
    sql: rooms.sql,
    clock,
    ledger,
    people,
    url: at.url,
    intervalMs: rooms.peopleTerms.deviceIntervalMs ?? DEVICE_INTERVAL_MS,
  });
  // A database serves many connections: what changes look up there does not wait for pages at all. With a file, one
  // thread reads for both, and changes have turns of their own.
  const lookUps = (by: string): Sql =>
    config.databaseUrl === null ? rooms.reading.as({ party: CHANGES, by }) : rooms.sql;
  const operator = operatorOf(config, rooms, { people, url: at.url });
  const ports = { ...readerPorts(config, rooms, { people, operator }), sql: lookUps(CHANGES) };
  const reports = createReports(ports);
  const tails = new Tails();
  const floor: Omit<ApiRooms, "operator" | "reports" | "tail"> = {
    changes: createChanges({ ...ports, labels: reports.labels }),
    people,
    payments: rooms.paymentService,
    alerts: rooms.alertService,
    sendMail: rooms.sendMail,
    devices: logins,
    playground: playgroundOn(rooms),
    site: { url: at.url, baseUrl: `${at.url}/v1`, version: VERSION },
    nowMs: () => clock.nowMs(),
  };
  const through = (sql: Sql, using: Operator): ApiRooms => {
    const read = reportsThrough(reports, sql);
    const tail: ApiRooms["tail"] = (followed, exchange) =>
      tailResponse({ reports: read, tails, draining }, followed, exchange);
    return { ...floor, operator: using, reports: read, tail };
  };
  return {
    people,
    app: createApp({
      people,
      rooms: (asker) => {
        const sql = rooms.reading.as(asker);
        return through(sql, operatorOf(config, { ...rooms, sql }, { people, url: at.url }));
      },
      changing: ({ by }) => through(lookUps(by), operator),
      origins: at.origins,
      uploads: rooms.uploads,
      completionBytes: config.limits.bodyBytes,
      organizationExists: async (id) => (await findOrganization(ledger, id)) !== null,
    }),
    auth: authHandler({ people, origins: at.origins, uploads: rooms.uploads }),
    ...deviceHandlers(logins, rooms.uploads),
    close: () => people.close(),
  };
}

const peopleOf = (
  config: Config,
  { ledger, clock, dataKey, peopleTerms, lines }: PeopleRooms,
  { url, origins }: Reached,
): Promise<People> =>
  openPeople({
    openStore: () => lines.openStore(),
    carry: () => lines.carry(),
    clock,
    secret: sessionSecret(dataKey),
    url,
    origins,
    oidc: config.signIn.oidc,
    signInsPerMinute: config.signIn.perMinute,
    passwords: peopleTerms.passwords,
    ownerOfManagementKey: (id) => ownerOfManagementKey(ledger, id),
  });

const operatorOf = (
  config: Config,
  rooms: PeopleRooms,
  { people, url }: { people: People; url: string },
): Operator =>
  createOperator({
    ledger: rooms.ledger,
    receipts: signerOf(rooms),
    sql: rooms.sql,
    flushRequestLog: () => rooms.flushRequestLog(),
    publisher: rooms.publisher,
    rateDefaults: rateDefaultsOf(config.limits),
    clock: rooms.clock,
    payments: rooms.paymentService,
    people: accounts({ people: async () => people, url: () => url }),
    persons: async () => people,
    sendMail: rooms.sendMail,
    url: () => url,
  });

const signerOf = ({ dataKey, ledger }: PeopleRooms): ReceiptSigner =>
  receiptSigner(dataKey, () => ledger.read(formerReceiptKeys));

/** The readers' ports, except for where they read. */
const readerPorts = (
  config: Config,
  rooms: PeopleRooms,
  { people, operator }: { people: People; operator: Operator },
) => ({
  ...rooms,
  receipts: signerOf(rooms),
  people,
  operator,
  providers: config.providers.map(({ name, kind, baseUrl, own, health }) => ({
    name,
    kind: kind.name,
    baseUrl,
    hasSecret: kind.credential.given(own),
    probed: baseUrl !== null && health.probe !== null,
  })),
  version: VERSION,
  settings: shownSettings(config),
  store: config.databaseUrl === null ? ("sqlite" as const) : ("postgresql" as const),
  lastBackup: () => lastBackup(config.dataDir),
  configurationChanged: () => fileChanged(config),
});

/** Our own origins: the dashboard's URL, and loopback for somebody at the machine. */
function originsOf({ publicUrl }: Config, address: string): string[] {
  const { port } = new URL(address);
  const own = [address, `http://127.0.0.1:${port}`, `http://localhost:${port}`];
  return [...new Set([...(publicUrl === null ? [] : [publicUrl]), ...own].map((url) => new URL(url).origin))];
}
