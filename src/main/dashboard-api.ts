// The rooms behind the dashboard: people, and `/app/v1` over the same use-cases as the command line. Loaded on their
// first request: a gateway that nobody looks at does not pay for them.
import type { SendMail } from "../alerts/mail/message.ts";
import type { Config } from "../config/config.ts";
import { rateDefaultsOf } from "../limits/caller-limits.ts";
import { shownSettings } from "../config/shown-settings.ts";
import type { AlertService } from "../operator/alerts.ts";
import type { People } from "../people/people.ts";
import { DEVICE_CODE_PATH, DEVICE_TOKEN_PATH } from "../domain/device-words.ts";
import { linkTo } from "../domain/links.ts";
import type { PaymentService } from "../operator/payments.ts";
import { VERSION } from "../domain/program.ts";
import { receiptSigner } from "../gateway/signed-receipt.ts";
import type { PreviewPorts } from "../gateway/preview.ts";
import type { ApiHandler } from "../http/api/handler.ts";
import type { PlaygroundPorts } from "../http/api/playground.ts";
import type { Handler } from "../http/context.ts";
import type { Method, Route } from "../http/router.ts";
import type { Uploads } from "../limits/uploads.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Clock } from "../lib/clock.ts";
import { firstRunToken } from "../people/first-run.ts";
import type { Passwords } from "../people/sign-in.ts";
import { anybodyHere, sessionSecret } from "../people/store.ts";
import type { Breakers } from "../releases/breakers.ts";
import type { Health } from "../releases/health.ts";
import type { Publisher } from "../releases/publish.ts";
import { lastBackup } from "../store/last-backup.ts";
import type { Rooms as ApiRooms } from "../api/rooms.ts";
import type { ReadingApart, Sql } from "../store/sql.ts";
import { ownerOfManagementKey } from "../registry/management-keys.ts";
import { findOrganization } from "../registry/organizations.ts";

const METHODS: readonly Method[] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/** How people come in, each as it is where nobody says: for tests that are not about it. */
export interface PeopleTerms {
  /** How passwords are kept; by scrypt. */
  passwords?: Passwords;
  /** What a terminal that logs in waits between two polls. */
  deviceIntervalMs?: number;
}

export interface PeopleRooms {
  ledger: Ledger;
  sql: Sql;
  dataKey: Uint8Array;
  clock: Clock;
  publisher: Publisher;
  health: Health;
  breakers: Breakers;
  paymentService: PaymentService;
  alertService: AlertService;
  sendMail: SendMail | null;
  /** Where this process answers. */
  address(): string;
  uploads: Uploads;
  answerOn: PlaygroundPorts["answerOn"];
  preview: PreviewPorts;
  startedAtMs: number;
  streamsOpen(): number;
  /** Writes what the request log gathered, so that readers see what just happened. */
  flushRequestLog(): Promise<void>;
  /** Entries of the request log that found no room. */
  forgotten(): number;
  /** Requests refused with `overloaded` since the start. */
  overloadRefusals(): number;
  /** Failed runs of background work since the start, by job. */
  failedJobs(): ReadonlyMap<string, number>;
  peopleTerms: PeopleTerms;
}

/** What this room answers: the dashboard's API, signing in, the two calls of a terminal that logs in. */
type Door = "app" | "auth" | "code" | "token";

export interface DashboardApi {
  /** Opened on first use. */
  people(): Promise<People>;
  routes: Route[];
  stop(): Promise<void>;
}

/** A link for whoever reads the terminal, as long as there is no account; null afterwards. */
export async function firstRunLink(
  config: Config,
  { url, dataKey, clock }: { url: string; dataKey: Uint8Array; clock: Clock },
): Promise<string | null> {
  if (await anybodyHere(placeOf(config))) return null;
  return linkTo("welcome", { url, token: firstRunToken(sessionSecret(dataKey), clock.nowMs()) });
}

export function dashboardApi(config: Config, rooms: PeopleRooms): DashboardApi {
  let opening: ReturnType<typeof open> | null = null;
  const loaded = (): ReturnType<typeof open> =>
    (opening ??= open(config, rooms).catch((error: unknown) => {
      opening = null;
      throw error;
    }));
  const handler =
    (door: Door): Handler =>
    async ({ request, requestId, receivedAtMs, address, setIdleTimeout, sending }) => {
      const visitor = { headers: request.headers, address };
      const exchange = { visitor, requestId, receivedAtMs, setIdleTimeout, sending };
      return await (await loaded())[door](request, exchange);
    };
  const route = (path: string, door: "app" | "auth"): Route => ({
    path,
    methods: METHODS,
    door: "session",
    handler: handler(door),
  });
  const device = (path: string, door: "code" | "token"): Route => ({
    path,
    methods: ["POST"],
    door: "public",
    handler: handler(door),
  });
  return {
    people: async () => (await loaded()).people,
    routes: [
      route("/app/v1/*", "app"),
      route("/auth/*", "auth"),
      device(DEVICE_CODE_PATH, "code"),
      device(DEVICE_TOKEN_PATH, "token"),
    ],
    stop: async () => {
      if (opening !== null) await (await opening).close();
    },
  };
}

async function open(
  config: Config,
  rooms: PeopleRooms,
): Promise<Record<Door, ApiHandler> & { people: People; close(): Promise<void> }> {
  const [
    { openPeople },
    { createApp },
    { authHandler },
    { createOperator },
    { createChanges },
    { createReports },
    { accounts },
    { auditNotes },
    { playgroundOn },
    { tailResponse },
    { Tails },
    { devices, DEVICE_INTERVAL_MS },
    { deviceHandlers },
  ] = await Promise.all([
    import("../people/open.ts"),
    import("../http/api/app.ts"),
    import("../http/api/auth.ts"),
    import("../operator/operator.ts"),
    import("../operator/changes.ts"),
    import("../reporting/reports.ts"),
    import("../operator/people.ts"),
    import("../registry/audit-notes.ts"),
    import("../http/api/playground.ts"),
    import("../http/api/tail.ts"),
    import("../limits/tails.ts"),
    import("../operator/devices.ts"),
    import("../http/device.ts"),
  ]);
  const { ledger, clock, publisher } = rooms;
  const url = config.publicUrl ?? rooms.address();
  const origins = originsOf(config, rooms.address());
  const people = await openPeople({
    place: placeOf(config),
    clock,
    secret: sessionSecret(rooms.dataKey),
    url,
    origins,
    oidc: config.signIn.oidc,
    signInsPerMinute: config.signIn.perMinute,
    passwords: rooms.peopleTerms.passwords,
    ownerOfManagementKey: (id) => ownerOfManagementKey(ledger, id),
  });
  const { paymentService, alertService, sendMail } = rooms;
  const { note } = auditNotes(rooms.sql, clock);
  const logins = devices({
    sql: rooms.sql,
    clock,
    ledger,
    people,
    url,
    note,
    intervalMs: rooms.peopleTerms.deviceIntervalMs ?? DEVICE_INTERVAL_MS,
  });
  const receipts = receiptSigner(rooms.dataKey);
  const operator = createOperator({
    ledger,
    receipts,
    sql: rooms.sql,
    flushRequestLog: () => rooms.flushRequestLog(),
    publisher,
    rateDefaults: rateDefaultsOf(config.limits),
    clock,
    payments: paymentService,
    people: accounts({ people: async () => people, url: () => url, note }),
    persons: async () => people,
  });
  const reading = await readingOf(config, rooms.sql);
  const ports = {
    ...rooms,
    receipts,
    sql: reading,
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
  };
  const reports = createReports(ports);
  const tails = new Tails();
  const floor: ApiRooms = {
    operator,
    reports,
    changes: createChanges({ ...ports, labels: reports.labels }),
    people,
    payments: paymentService,
    alerts: alertService,
    sendMail,
    devices: logins,
    playground: playgroundOn(rooms),
    tail: (followed, exchange) => tailResponse({ reports, tails }, followed, exchange),
    site: { url, baseUrl: `${url}/v1`, version: VERSION },
    nowMs: () => clock.nowMs(),
  };
  // A database answers on many connections: what a change looks up waits for no page. A file's one thread reads for both.
  const shared = config.databaseUrl !== null;
  const changing = shared ? { ...floor, reports: createReports({ ...ports, sql: rooms.sql }) } : floor;
  return {
    people,
    app: createApp({
      people,
      rooms: floor,
      changing,
      origins,
      uploads: rooms.uploads,
      completionBytes: config.limits.bodyBytes,
      organizationExists: async (id) => (await findOrganization(ledger, id)) !== null,
    }),
    auth: authHandler({ people, note, origins, uploads: rooms.uploads }),
    ...deviceHandlers(logins, rooms.uploads),
    close: async () => {
      await reading.stop();
      await people.close();
    },
  };
}

async function readingOf({ dataDir, databaseUrl }: Config, sql: Sql): Promise<ReadingApart> {
  if (databaseUrl === null) return (await import("../store/sqlite-reading.ts")).readingApart(sql, dataDir);
  return (await import("../store/postgres.ts")).postgresReading(databaseUrl);
}

const placeOf = ({ dataDir, databaseUrl }: Config) => ({ dataDir, databaseUrl });

/** Our own pages: where people reach the dashboard, and loopback for whoever sits at the machine. */
function originsOf({ publicUrl }: Config, address: string): string[] {
  const { port } = new URL(address);
  const own = [address, `http://127.0.0.1:${port}`, `http://localhost:${port}`];
  return [...new Set([...(publicUrl === null ? [] : [publicUrl]), ...own].map((url) => new URL(url).origin))];
}
