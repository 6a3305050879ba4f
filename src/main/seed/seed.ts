// Fills a new store with realistic organizations: through the ledger, the registry and the rooms of a
// gateway, in chronological order, on a clock that is moved from one event to the next. Its books are clean,
// its receipts verify.
import { DAY_MS, HOUR_MS } from "../../domain/durations.ts";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../../config/config.ts";
import type { Actor } from "../../domain/actor.ts";
import type { Credential } from "../../domain/credential.ts";
import { FORMATS } from "../../gateway/formats/formats.ts";
import { newId, randomBase62 } from "../../lib/id.ts";
import type { Jobs } from "../../lib/jobs.ts";
import { createLog } from "../../lib/log.ts";
import { RequestLog } from "../../operator/request-log.ts";
import { auditNotes } from "../../registry/audit-notes.ts";
import { createOrganization } from "../../registry/organizations.ts";
import type { Person } from "../../people/people.ts";
import type { Passwords } from "../../people/sign-in.ts";
import { sessionSecret } from "../../people/store.ts";
import { demoKeys } from "../../releases/demo.ts";
import { jobsOn } from "../jobs.ts";
import { openReleases } from "../releases.ts";
import { openServices } from "../services.ts";
import { type OpenedStore, openStore } from "../store.ts";
import { CAST, type SeededKey } from "./cast.ts";
import { SEEDED_PROVIDERS } from "./catalogue.ts";
import { Chance } from "./chance.ts";
import { MovingClock } from "./moving-clock.ts";
import {
  entitle,
  type Founded,
  type Founding,
  makeKeys,
  planCredits,
  refundOne,
  setRules,
} from "./organizations.ts";
import { SEEDED_OPERATORS, castMembers, type Casting, castOperators, openSeededPeople } from "./people.ts";
import { play, type Stage } from "./play.ts";
import { publishCatalogue } from "./releases.ts";
import { Timeline } from "./timeline.ts";
import { expectedSpend, instantAt, planTraffic, type SeededRequest, type SeededTime } from "./traffic.ts";
import { refuseAccounts, refuseTrust, refuseUsed } from "./unused-store.ts";

/** Between two rounds of the alert rules. */
const WATCH_EVERY_MS = DAY_MS / 8;
/** Before the first request, when organizations, keys and releases must exist. */
const BEFORE_MS = HOUR_MS;
const LOGGED_AT_ONCE = 200;
/** Days pass in a second here: expired data is deleted along the way. */
const SWEEP_EVERY_MS = 300;
/** Holds the configuration of a seeded store's providers. */
const CONFIG_FILE = "seeded.yaml";

export interface SeedAsk {
  days: number;
  requests: number;
  /** The same number creates the same requests, counted back from now. */
  seed: number;
  /** The password of all accounts; generated if null. */
  password: string | null;
  /** How it is hashed; default: scrypt. */
  passwords?: Passwords;
}

/**
 * What the command line prints at the end. Password and key are real in that store: they sign in, and they
 * spend.
 */
export interface Seeded {
  organizations: { id: string; name: string; owner: string }[];
  requests: number;
  operator: string;
  password: string;
  /** A key's secret, for calls. */
  key: string;
  /** The configuration with its providers. */
  config: string;
  seconds: number;
}

/** Throws `SeedRefused` for a store in use, and for a configuration that trusts its own keys. */
export async function seedStore(
  config: Config,
  ask: SeedAsk,
  progress: (done: number, of: number) => void,
): Promise<Seeded> {
  refuseTrust(config);
  const startedAtMs = performance.now();
  const toMs = Date.now();
  const span = { fromMs: toMs - ask.days * DAY_MS, toMs };
  const clock = new MovingClock(span.fromMs - BEFORE_MS);
  const jobs = jobsOn(createLog("error"));
  const store = await openStore(config, { clock, jobs, formats: FORMATS, sweepEveryMs: SWEEP_EVERY_MS });
  try {
    await refuseUsed(store);
    if (store.sql.dialect === "sqlite") await store.sql.rows("PRAGMA synchronous = OFF");
    const made = await fill({ store, config, clock, jobs, span, ask, progress });
    await swept(store, toMs);
    const file = await writeConfig(config);
    const seconds = Math.round((performance.now() - startedAtMs) / 100) / 10;
    return { ...made, config: file, seconds };
  } finally {
    await store.ledger.close();
    await store.close();
  }
}

/** Resolves when the ledger's upkeep has caught up. */
async function swept({ sql }: OpenedStore, nowMs: number): Promise<void> {
  const late = (): Promise<unknown[]> =>
    sql.rows("SELECT 1 FROM result WHERE expires_at <= ?1 LIMIT 1", nowMs);
  while ((await late()).length > 0) await Bun.sleep(SWEEP_EVERY_MS / 10);
}

interface Filling {
  store: OpenedStore;
  config: Config;
  clock: MovingClock;
  jobs: Jobs;
  span: SeededTime;
  ask: SeedAsk;
  progress: (done: number, of: number) => void;
}

async function fill(on: Filling): Promise<Omit<Seeded, "config" | "seconds">> {
  const rooms = await openRooms(on);
  try {
    await refuseAccounts(rooms.people);
    return await invent(on, rooms);
  } finally {
    await rooms.close();
  }
}

type Rooms = Awaited<ReturnType<typeof openRooms>>;

/** The rooms of a gateway on this store, with the moving clock. */
async function openRooms({ store, config, clock, jobs, ask }: Filling) {
  const { ledger, sql, dataKey } = store;
  const releases = await openReleases({
    config,
    ledger,
    sql,
    clock,
    dataKey,
    targets: [],
    shared: false,
    jobs,
  });
  const people = await openSeededPeople(config, { dataKey, passwords: ask.passwords });
  const services = openServices(config, {
    ...store,
    routeTable: releases.routeTable,
    people: async () => people,
    clock,
    address: () => "http://localhost",
    jobs,
  });
  const requestLog = new RequestLog(sql, clock, jobs);
  const close = async (): Promise<void> => {
    await requestLog.stop();
    await services.stop();
    releases.stop();
    await people.close();
  };
  return { releases, people, services, requestLog, close };
}

async function invent(
  { store, config, clock, jobs, span, ask, progress }: Filling,
  { releases, people, services, requestLog }: Rooms,
): Promise<Omit<Seeded, "config" | "seconds">> {
  const { ledger, sql, dataKey } = store;
  const chance = new Chance(ask.seed);
  const password = ask.password ?? randomBase62(16);
  const { note } = auditNotes(sql, clock);
  const casting: Casting = { people, password, note, actorOf: actors(chance, clock) };
  const operators = await castOperators(casting, sessionSecret(dataKey));
  const timeline = new Timeline();
  const planned = planTraffic(span, ask.requests, ask.seed);
  const founding: Founding = {
    ledger,
    sql,
    clock,
    timeline,
    span,
    chance,
    operators,
    actorOf: casting.actorOf,
    payments: services.payments,
    alerts: services.alertService,
    driver: config.payments.driver,
    expected: expectedSpend(planned),
  };
  const operator = casting.actorOf(first(operators));
  const { key } = await demoKeys({ dataDir: config.dataDir, dataKey });
  await publishCatalogue({ releases, key, clock, timeline, span, operator });
  const { founded, secrets } = await found(founding, casting);
  for (let atMs = span.fromMs; atMs < span.toMs; atMs += WATCH_EVERY_MS)
    timeline.add(atMs, () => services.alerts.watch((error) => jobs.failed("alerts_watch", error)));
  const stage: Stage = {
    ledger,
    requestLog,
    clock,
    timeline,
    chance,
    routeTable: releases.routeTable,
    credentialOf: (wanted) => held(secrets, wanted).credential,
  };
  await playAll(stage, planned, { span, progress });
  return {
    organizations: founded,
    requests: planned.length,
    operator: SEEDED_OPERATORS[0].email,
    password,
    key: held(secrets, first(first(CAST).keys)).secret,
  };
}

type Secrets = Map<SeededKey, { credential: Credential; secret: string }>;

async function found(
  on: Founding,
  casting: Casting,
): Promise<{ founded: Seeded["organizations"]; secrets: Secrets }> {
  const founded: Seeded["organizations"] = [];
  const secrets: Secrets = new Map();
  const operator = first(on.operators);
  for (const of of CAST) {
    const record = await createOrganization(
      on.ledger,
      { id: newId("org"), name: of.name },
      on.actorOf(operator),
    );
    const members = await castMembers(casting, record.id, { of, operator });
    const at: Founded = { organizationId: record.id, members };
    for (const [key, made] of await makeKeys(on, at, of)) secrets.set(key, made);
    planCredits(on, at, of);
    await setRules(on, at, of);
    await entitle(on, at, of);
    on.timeline.add(instantAt(on.span, 0.83), () => refundOne(on, record.id));
    founded.push({ id: record.id, name: of.name, owner: of.people[0]?.email ?? "" });
  }
  return { founded, secrets };
}

/** Plays the requests and everything between them; what would end after the seeded time stays open. */
async function playAll(
  on: Stage,
  planned: readonly SeededRequest[],
  { span, progress }: { span: SeededTime; progress: (done: number, of: number) => void },
): Promise<void> {
  for (const [at, request] of planned.entries()) {
    await until(on, request.atMs);
    on.clock.moveTo(request.atMs);
    await play(on, request);
    if (at % LOGGED_AT_ONCE === 0) {
      await on.requestLog.flush();
      progress(at, planned.length);
    }
  }
  await until(on, span.toMs);
  on.clock.moveTo(span.toMs); // or what ends after the last request would never end
  progress(planned.length, planned.length);
}

async function until({ timeline, clock }: Stage, untilMs: number): Promise<void> {
  for (let next = timeline.next(untilMs); next !== null; next = timeline.next(untilMs)) {
    clock.moveTo(next.atMs);
    await next.act();
  }
}

/** Each person has an address of their own; each act, a request id. */
function actors(chance: Chance, clock: MovingClock): (person: Pick<Person, "id">) => Actor {
  const addresses = new Map<string, string>();
  return ({ id }) => {
    const address = addresses.get(id) ?? `198.51.100.${addresses.size + 10}`;
    addresses.set(id, address);
    return { id, address, requestId: chance.requestId(clock.nowMs()) };
  };
}

async function writeConfig({ dataDir }: Config): Promise<string> {
  const file = join(dataDir, CONFIG_FILE);
  const providers = SEEDED_PROVIDERS.map((name) => `  - { name: ${name}, kind: simulator }\n`).join("");
  const text = `# The providers of a store that was filled by ./tollgate seed: all of them the built-in simulator.\ndata_dir: .\nproviders:\n  - { name: simulator, kind: simulator }\n${providers}`;
  await writeFile(file, text, { mode: 0o600 });
  return file;
}

function first<T>(list: readonly T[]): T {
  const [found] = list;
  if (found === undefined) throw new Error("an empty cast");
  return found;
}

function held(secrets: Secrets, key: SeededKey): { credential: Credential; secret: string } {
  const found = secrets.get(key);
  if (found === undefined) throw new Error(`${key.name} was not made`);
  return found;
}
