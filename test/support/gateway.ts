// A whole gateway for one test file: the real server on a loopback port, its own store in a temporary directory, its
// own simulator as the provider, releases signed for it. `stop` ends everything.
import { Database } from "bun:sqlite";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { type Config, loadConfig } from "../../src/config/config.ts";
import { OPERATOR_FILE, STORE_FILE } from "../../src/domain/data-files.ts";
import { parseUsd } from "../../src/domain/money.ts";
import type { Format } from "../../src/gateway/formats/format.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import type { BalanceRecord, RequestRecord } from "../../src/ledger/records.ts";
import { createLog, type Log } from "../../src/lib/log.ts";
import { type Running, start } from "../../src/main/gateway.ts";
import { openStore } from "../../src/main/store.ts";
import type { Services } from "../../src/main/services.ts";
import { type Simulator, startSimulator } from "../../src/providers/simulator/server.ts";
import { parseManifest } from "../../src/releases/manifest.ts";
import { generateReleaseKey, readReleaseKey, type ReleaseKey } from "../../src/releases/release-key.ts";
import { signRelease } from "../../src/releases/signature.ts";
import type { TestClock } from "./clock.ts";
import { type Events, readEvents } from "./events.ts";
import { placeMigratedStore } from "./migrated-store.ts";
import { assertTold } from "./told.ts";
import { MODELS, type TestManifest } from "./models.ts";
import { QUICK_PASSWORDS } from "./passwords.ts";
import type { Passwords } from "../../src/people/sign-in.ts";
import { type TestDatabase, testPostgres } from "./postgres.ts";
import { allOrganizations } from "../../src/registry/organizations.ts";
import { readRequest } from "../../src/registry/requests.ts";

const DAY_MS = 86_400_000;

export interface GatewayOptions {
  models?: readonly TestManifest[];
  clock?: TestClock;
  /** Default: silent. */
  log?: Log;
  /** Changes the configuration before the start. */
  configure?(config: Config): void;
  /** Base URLs of further providers by name; `simulator` is always there. */
  providers?: Record<string, string>;
  /** The surfaces that it serves; default: all of the product's. */
  formats?: readonly Format[];
  /** Default: TOLLGATE_TEST_STORE decides. */
  store?: Store;
  /** Hashes passwords with scrypt, as in production: for tests about that. */
  realPasswords?: boolean;
  /** Replaces the fast ones. */
  passwords?: Passwords;
  /** The interval of a terminal's login polls, if not the product's. */
  deviceIntervalMs?: number;
  /** The interval of checks of the books, if not the product's minute. */
  booksEveryMs?: number;
  /** A data key that no other gateway has: for tests of two gateways that must not understand each other's data. */
  ownDataKey?: boolean;
}

/** For stories that must hold on both. */
export const STORES = ["sqlite", "postgres"] as const;
export type Store = (typeof STORES)[number];

export interface Customer {
  organizationId: string;
  keyId: string;
  secret: string;
}

export interface Reply<T = Record<string, unknown>> {
  status: number;
  headers: Headers;
  text: string;
  json: T;
}

export interface TestGateway {
  url: string;
  baseUrl: string;
  ledger: Ledger;
  payments: Services["payments"];
  alerts: Services["alerts"];
  services: Services;
  /** From the start banner; null once there is an account. */
  signInLink: string | null;
  simulator: Simulator;
  dataDir: string;
  /** The installation's management key. */
  token: string;
  /** A new organization with credits (US dollars, purchased) and one key. */
  customer(options?: {
    usd?: string;
    kind?: "purchase" | "grant";
    scope?: "standard" | "research";
    limitUsd?: string;
  }): Promise<Customer>;
  key(
    organizationId: string,
    options?: { scope?: "standard" | "research"; limitUsd?: string },
  ): Promise<Customer>;
  admin<T = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<Reply<T>>;
  /** A release as the signed file that an operator would publish. */
  sign(manifest: TestManifest, options?: { expiresInMs?: number; nowMs?: number }): Promise<string>;
  publish(manifest: TestManifest, options?: { expiresInMs?: number; nowMs?: number }): Promise<Reply>;
  /** POST /v1/chat/completions. */
  chat<T = Record<string, unknown>>(
    customer: Customer,
    body: unknown,
    headers?: Record<string, string>,
  ): Promise<Reply<T>>;
  stream(
    customer: Customer,
    body: object,
    headers?: Record<string, string>,
  ): Promise<Reply & { events: Events }>;
  get<T = Record<string, unknown>>(customer: Customer, path: string): Promise<Reply<T>>;
  balance(customer: Customer): Promise<BalanceRecord>;
  request(id: string): Promise<RequestRecord>;
  /** Runs a statement, valid in both dialects, on the store behind the gateway's back; `?1` is the first value. */
  tamper(statement: string, ...values: string[]): Promise<void>;
  /** All rows of a table, as they are stored. */
  rowsOf(table: string): Promise<unknown[]>;
  /** Fails if an invariant of the ledger is violated, or a hold is left. */
  assertSound(): Promise<void>;
  /** Stops it and starts it again on the same store and the same port. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export async function startGateway(options: GatewayOptions = {}): Promise<TestGateway> {
  const dataDir = mkdtempSync(join(tmpdir(), "tollgate-test-"));
  const simulator = await startSimulator({ port: 0 });
  const signer = await makeSigner(dataDir);
  const config = loadConfig({ env: {}, cwd: dataDir, flags: { port: "0", dataDir } });
  config.trust = { releaseKeys: [signer.trustFile] };
  const [provider] = config.providers;
  if (provider === undefined) throw new Error("no provider in the default configuration");
  const addresses = { simulator: `${simulator.url}/v1`, ...options.providers };
  config.providers = Object.entries(addresses).map(([name, baseUrl]) => ({
    ...provider,
    name,
    baseUrl,
    health: { ...provider.health, probe: null },
  }));
  const store = options.store ?? process.env["TOLLGATE_TEST_STORE"];
  const database = store === "postgres" ? await postgresDatabase() : null;
  config.databaseUrl = database?.url ?? null;
  if (database === null && options.ownDataKey !== true) placeMigratedStore(dataDir);
  options.configure?.(config);
  const { booksEveryMs } = options;
  const begin = (): Promise<Running> =>
    start(config, {
      ...(options.clock && { clock: options.clock }),
      ...(options.formats && { formats: options.formats }),
      peopleTerms: {
        ...(options.realPasswords !== true && { passwords: options.passwords ?? QUICK_PASSWORDS }),
        ...(options.deviceIntervalMs !== undefined && { deviceIntervalMs: options.deviceIntervalMs }),
      },
      log: options.log ?? createLog("silent"),
      ...(booksEveryMs !== undefined && {
        openStore: (configured, on) => openStore(configured, { ...on, booksEveryMs }),
      }),
    });
  const gateway = new RunningGateway(await begin(), {
    simulator,
    dataDir,
    key: signer.key,
    databaseUrl: config.databaseUrl,
  });
  // A test that chose its store itself knows what happens to the key there.
  const chosen = options.store !== undefined || config.databaseUrl !== database?.url;
  const outlives = options.clock !== undefined && !chosen;
  gateway.restarting = async () => {
    await gateway.running.stop();
    config.listen.port = Number(new URL(gateway.url).port);
    const running = await begin();
    if (outlives) await gateway.keepToken();
    return running;
  };
  gateway.stopping = async () => {
    await gateway.running.stop();
    await simulator.stop();
    await database?.drop();
    rmSync(dataDir, { recursive: true, force: true });
  };
  if (outlives) await gateway.keepToken();
  const nowMs = options.clock?.nowMs();
  for (const manifest of options.models ?? MODELS) {
    const published = await gateway.publish(manifest, nowMs === undefined ? {} : { nowMs });
    if (published.status >= 300) throw new Error(`publishing ${manifest.model}: ${published.text}`);
  }
  return gateway;
}

/** TOLLGATE_TEST_STORE=postgres runs every test of a whole gateway on PostgreSQL. */
const postgresDatabase = async (): Promise<TestDatabase> => (await testPostgres()).migrated();

async function makeSigner(directory: string): Promise<{ key: ReleaseKey; trustFile: string }> {
  const { privateJwk, publicJwk } = await generateReleaseKey();
  const trustFile = join(directory, "trust.jwk");
  writeFileSync(trustFile, JSON.stringify(publicJwk));
  return { key: await readReleaseKey(privateJwk), trustFile };
}

interface Parts {
  simulator: Simulator;
  dataDir: string;
  key: ReleaseKey;
  databaseUrl: string | null;
}

class RunningGateway implements TestGateway {
  stopping: () => Promise<void> = async () => {};
  restarting: () => Promise<Running> = async () => this.running;
  readonly simulator: Simulator;
  readonly dataDir: string;
  token: string;

  constructor(
    public running: Running,
    private readonly parts: Parts,
  ) {
    this.simulator = parts.simulator;
    this.dataDir = parts.dataDir;
    this.token = readToken(parts.dataDir);
  }

  get url(): string {
    return this.running.url;
  }

  get baseUrl(): string {
    return `${this.url}/v1`;
  }

  get ledger(): Ledger {
    return this.running.ledger;
  }

  get services(): Services {
    return this.running.services;
  }

  get payments(): Services["payments"] {
    return this.services.payments;
  }

  get alerts(): Services["alerts"] {
    return this.services.alerts;
  }

  get signInLink(): string | null {
    return this.running.signInLink;
  }

  async customer(options: Parameters<TestGateway["customer"]>[0] = {}): Promise<Customer> {
    const organization = await this.admin<{ id: string }>("POST", "/organizations", { name: "Test" });
    const { usd = "5", kind = "purchase", ...rest } = options;
    if (parseUsd(usd) !== 0n) await this.admin("POST", "/credits", { org: organization.json.id, usd, kind });
    return this.key(organization.json.id, rest);
  }

  async key(organizationId: string, options: Parameters<TestGateway["key"]>[1] = {}): Promise<Customer> {
    const { scope = "standard", limitUsd } = options;
    const body = {
      org: organizationId,
      name: "test",
      scope,
      ...(limitUsd !== undefined && { limit_usd: limitUsd }),
    };
    const created = await this.admin<{ id: string; secret: string }>("POST", "/keys", body);
    if (created.status !== 201) throw new Error(`creating a key: ${created.text}`);
    return { organizationId, keyId: created.json.id, secret: created.json.secret };
  }

  async admin<T>(method: string, path: string, body?: unknown): Promise<Reply<T>> {
    const reply = await read<T>(
      await fetch(`${this.url}/admin/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${this.token}`, "content-type": "application/json" },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    );
    assertTold(method, `/admin/v1${path}`, reply);
    return reply;
  }

  async publish(manifest: TestManifest, options: Parameters<TestGateway["publish"]>[1] = {}): Promise<Reply> {
    return this.admin("POST", "/releases", { jws: await this.sign(manifest, options) });
  }

  sign(manifest: TestManifest, options: Parameters<TestGateway["sign"]>[1] = {}): Promise<string> {
    const { expiresInMs = 30 * DAY_MS, nowMs = Date.now() } = options;
    return signRelease(parseManifest(structuredClone(manifest)), this.parts.key, { expiresInMs, nowMs });
  }

  async chat<T>(customer: Customer, body: unknown, headers: Record<string, string> = {}): Promise<Reply<T>> {
    return read(await this.post(customer, body, headers));
  }

  async stream(
    customer: Customer,
    body: object,
    headers: Record<string, string> = {},
  ): Promise<Reply & { events: Events }> {
    const reply = await read<Record<string, unknown>>(
      await this.post(customer, { ...body, stream: true }, headers),
    );
    return {
      ...reply,
      events: readEvents(
        reply.headers.get("content-type")?.startsWith("text/event-stream") ? reply.text : "",
      ),
    };
  }

  async get<T>(customer: Customer, path: string): Promise<Reply<T>> {
    return read(
      await fetch(`${this.url}${path}`, { headers: { authorization: `Bearer ${customer.secret}` } }),
    );
  }

  async balance({ organizationId }: Customer): Promise<BalanceRecord> {
    const balance = await this.ledger.balance(organizationId);
    if (balance === null) throw new Error(`no organization ${organizationId}`);
    return balance;
  }

  async request(id: string): Promise<RequestRecord> {
    const record = await readRequest(this.ledger, id);
    if (record === null) throw new Error(`no request ${id}`);
    return record;
  }

  async tamper(statement: string, ...values: string[]): Promise<void> {
    if (this.parts.databaseUrl === null) {
      const store = new Database(join(this.dataDir, STORE_FILE));
      store.run(statement, values);
      store.close();
      return;
    }
    const client = new pg.Client({ connectionString: this.parts.databaseUrl });
    await client.connect();
    await client.query(statement.replace(/\?(\d)/g, "$$$1"), values);
    await client.end();
  }

  /**
   * In a store that may be shared, the key of the operator file is valid for a day unless the gateway renews it every
   * few minutes; a test's clock may jump by weeks in between.
   */
  async keepToken(): Promise<void> {
    await this.tamper("UPDATE management_key SET expires_at = NULL WHERE name = ?1", OPERATOR_FILE);
  }

  async rowsOf(table: string): Promise<unknown[]> {
    const statement = `SELECT * FROM ${table}`;
    if (this.parts.databaseUrl === null) {
      const store = new Database(join(this.dataDir, STORE_FILE), { readonly: true });
      const rows = store.query(statement).all();
      store.close();
      return rows;
    }
    const client = new pg.Client({ connectionString: this.parts.databaseUrl });
    await client.connect();
    const { rows } = await client.query(statement);
    await client.end();
    return rows;
  }

  async assertSound(): Promise<void> {
    const report = await this.ledger.verify();
    if (!report.ok) throw new Error(`the ledger is not sound: ${JSON.stringify(report.violations)}`);
    for (const { id, name } of await allOrganizations(this.ledger)) {
      const held = (await this.ledger.balance(id))?.held ?? 0n;
      if (held !== 0n) throw new Error(`${name} still holds ${held}`);
    }
  }

  async restart(): Promise<void> {
    this.running = await this.restarting();
    this.token = readToken(this.dataDir);
  }

  stop(): Promise<void> {
    return this.stopping();
  }

  private post(customer: Customer, body: unknown, headers: Record<string, string>): Promise<Response> {
    return fetch(`${this.baseUrl}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${customer.secret}`, "content-type": "application/json", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  }
}

const readToken = (dataDir: string): string =>
  (JSON.parse(readFileSync(join(dataDir, OPERATOR_FILE), "utf8")) as { token: string }).token;

async function read<T>(response: Response): Promise<Reply<T>> {
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: (isJson ? JSON.parse(text) : {}) as T,
  };
}

/** A small request that works on every model. */
export const hello = (
  model = "plain-1",
): { model: string; messages: { role: string; content: string }[] } => ({
  model,
  messages: [{ role: "user", content: "Say hello" }],
});
