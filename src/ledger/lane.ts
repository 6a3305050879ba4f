// Group commit on one connection: what waits when a transaction ends forms the next one, a lone operation waits for no
// timer. Conflicts run again, an operation that the database refuses fails alone, settlements outlive a database that
// is away, everything else is refused at once; a commit without an answer is looked up (money.md §7).
import type { Client } from "pg";
import { overloaded } from "../contract/overloaded.ts";
import { messageOf } from "../lib/message.ts";
import { errorKind, wasRefused } from "../store/postgres-error.ts";
import { type Committed } from "./batch.ts";
import { Doubt } from "./postgres-commit.ts";
import type { Pulse } from "./pulse.ts";
import { type LaneOperation, type LaneOutcome, outlives, rankOf } from "./postgres-operations.ts";

export interface LanePorts {
  connect(): Promise<Client>;
  commit(client: Client, operations: readonly LaneOperation[]): Promise<Committed<LaneOutcome>[]>;
  /** Whether a transaction in doubt happened. */
  happened(client: Client, operations: readonly LaneOperation[], doubt: Doubt): Promise<boolean>;
  /** Settlements that wait for the database: kept on disk until they are taken. */
  spool: { keep(operations: readonly LaneOperation[]): void; taken(operation: LaneOperation): void };
  /** An admission that nobody was told about did happen: it must be taken back. */
  takeBack(operation: LaneOperation): void;
  pulse: Pick<Pulse, "committed">;
}

interface Waiting {
  operation: LaneOperation;
  resolve(outcome: LaneOutcome): void;
  reject(error: unknown): void;
  /** Its caller was refused while its outcome was in doubt. */
  refused: boolean;
}

const OPERATIONS_PER_BATCH = 256;
const QUEUE = 5_000;
const CONFLICTS_AT_MOST = 8;
const RECONNECT_FIRST_MS = 50;
const RECONNECT_AT_MOST_MS = 2_000;
/** Nobody waits longer for the answer to a lost commit. */
const DOUBT_AT_MOST_MS = 3_000;

export class Lane {
  /** One queue per rank. */
  private readonly queues: Waiting[][] = [[], [], []];
  private client: Client | null = null;
  private running = false;
  private away = false;
  /** The database answers, and its last answer to a batch was that it takes none: full, or read-only. */
  private refusing = false;
  private closed = false;
  private reconnectInMs = RECONNECT_FIRST_MS;
  private failure: unknown = null;
  private doubt: { batch: Waiting[]; about: Doubt } | null = null;

  constructor(private readonly ports: LanePorts) {}

  /** False while the database takes no writes from here. */
  get ready(): boolean {
    return !this.away && !this.closed;
  }

  /** What the database was lost with; null while it is there. */
  get trouble(): string | null {
    return this.away ? messageOf(this.failure) : null;
  }

  /** Connects, so that the first request need not, and so that a lost database is noticed before it. */
  async open(): Promise<void> {
    if ((await this.connected()) === null) this.start();
  }

  /** Resolves when the operation is durable. Rejects with `overloaded` when it cannot be taken now. */
  submit(operation: LaneOperation): Promise<LaneOutcome> {
    return new Promise((resolve, reject) => {
      const lasting = outlives(operation);
      if (this.closed || (!lasting && (this.away || this.waiting >= QUEUE))) {
        reject(overloaded());
        return;
      }
      if (this.away) this.ports.spool.keep([operation]);
      this.queues[rankOf(operation)]?.push({ operation, resolve, reject, refused: false });
      this.start();
    });
  }

  /** Commits what waits, unless the database is away; then takes nothing more. */
  async close(): Promise<void> {
    while ((this.waiting > 0 || this.running) && !this.away)
      await new Promise((resolve) => setTimeout(resolve, 5));
    this.closed = true;
    for (const waiting of this.take(Number.MAX_SAFE_INTEGER)) waiting.reject(overloaded());
    await this.client?.end().catch(() => {}); // it may be gone already
  }

  get waiting(): number {
    return this.queues.reduce((sum, queue) => sum + queue.length, 0);
  }

  /** Runs after the events of this tick: whatever they submit joins the batch. */
  private start(): void {
    if (this.running) return;
    this.running = true;
    setImmediate(() => void this.run());
  }

  private async run(): Promise<void> {
    while ((this.waiting > 0 || this.away) && !this.closed) {
      const client = await this.connected();
      if (client === null) await this.reconnectLater();
      else await this.commit(client, this.take(OPERATIONS_PER_BATCH), 0);
    }
    this.running = false;
    if (this.waiting > 0 && !this.closed) this.start();
  }

  private take(atMost: number): Waiting[] {
    const batch: Waiting[] = [];
    for (const queue of this.queues) batch.push(...queue.splice(0, atMost - batch.length));
    return batch;
  }

  private async commit(client: Client, batch: Waiting[], tries: number): Promise<void> {
    if (batch.length === 0) return;
    const beganMs = performance.now();
    try {
      const outcomes = await this.ports.commit(
        client,
        batch.map(({ operation }) => operation),
      );
      this.ports.pulse.committed(batch.length, performance.now() - beganMs);
      if (this.refusing) this.takesAgain();
      this.tell(batch, outcomes);
    } catch (error) {
      await this.failed(client, batch, { error, tries });
    }
  }

  private tell(batch: readonly Waiting[], outcomes: readonly Committed<LaneOutcome>[]): void {
    for (const [index, waiting] of batch.entries()) {
      const committed = outcomes[index];
      this.ports.spool.taken(waiting.operation);
      if (waiting.refused) this.ports.takeBack(waiting.operation);
      if (committed?.kind === "outcome") waiting.resolve(committed.outcome);
      else waiting.reject(committed?.error ?? new Error("a batch lost an outcome"));
    }
  }

  private async failed(
    client: Client,
    batch: Waiting[],
    { error, tries }: { error: unknown; tries: number },
  ): Promise<void> {
    this.failure = error instanceof Doubt ? error.cause : error;
    if (error instanceof Doubt) {
      this.doubt = { batch, about: error };
      this.lost(client, []);
      setTimeout(() => this.giveUpOn(error), DOUBT_AT_MOST_MS).unref();
      return;
    }
    const kind = errorKind(error);
    if (kind === "store" || (kind === "conflict" && tries >= CONFLICTS_AT_MOST)) {
      this.lost(client, batch);
      if (kind === "conflict" || !wasRefused(error)) return;
      this.refusing = true;
      return await this.reconnectLater(); // it would answer the same at once, over and over
    }
    if (kind === "conflict") {
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 2 ** tries));
      return await this.commit(client, batch, tries + 1);
    }
    await this.halve(client, batch, error);
  }

  /** Halves a batch that one of its operations spoiled, until that one stands alone. */
  private async halve(client: Client, batch: Waiting[], error: unknown): Promise<void> {
    const [first] = batch;
    if (batch.length === 1) {
      first?.reject(error);
      return;
    }
    const middle = batch.length >> 1;
    await this.commit(client, batch.slice(0, middle), 0);
    // The first half may have lost the connection: then the second waits for the next one.
    if (this.client === client) await this.commit(client, batch.slice(middle), 0);
    else this.putBack(batch.slice(middle));
  }

  /** The database is away: `batch` was rolled back. What must not be lost waits, the rest is refused. */
  private lost(client: Client | null, batch: Waiting[]): void {
    this.away = true;
    this.client = null;
    client?.end().catch(() => {}); // gone already, most likely
    const all = [...batch, ...this.take(Number.MAX_SAFE_INTEGER)];
    this.refuse(all.filter(({ operation }) => !outlives(operation)));
    this.putBack(all.filter(({ operation }) => outlives(operation)));
    const lasting = [...all, ...(this.doubt?.batch ?? [])].filter(({ operation }) => outlives(operation));
    this.ports.spool.keep(lasting.map(({ operation }) => operation));
  }

  /** Still not known: those who cannot wait are refused; what did happen is taken back when it is known. */
  private giveUpOn(about: Doubt): void {
    if (this.doubt?.about !== about) return;
    this.refuse(this.doubt.batch.filter(({ operation }) => !outlives(operation)));
  }

  private refuse(waiting: readonly Waiting[]): void {
    for (const one of waiting) {
      one.refused = true;
      one.reject(overloaded());
    }
  }

  private putBack(batch: readonly Waiting[]): void {
    for (const one of batch.toReversed()) if (!one.refused) this.queues[rankOf(one.operation)]?.unshift(one);
  }

  private async connected(): Promise<Client | null> {
    if (this.client !== null) return this.client;
    let client: Client | null = null;
    try {
      client = await this.ports.connect();
      await assertTakesWrites(client);
      if (this.doubt !== null) await this.clear(client, this.doubt);
      this.client = client;
      client.once("end", () => this.ended(client));
      if (!this.refusing) this.takesAgain();
      this.away &&= this.waiting > 0; // until what waits is taken; without it, the next request finds out
    } catch (error) {
      this.failure = error;
      this.lost(client, []); // tried again until it works
    }
    return this.client;
  }

  private takesAgain(): void {
    this.away = false;
    this.refusing = false;
    this.reconnectInMs = RECONNECT_FIRST_MS;
  }

  /** Lost while nothing was under way: better to find out now than with the next request. */
  private ended(client: Client | null): void {
    if (this.closed || this.running || this.client !== client) return;
    this.failure = new Error("the database closed the connection");
    this.lost(client, []);
    this.start();
  }

  private async clear(client: Client, { batch, about }: { batch: Waiting[]; about: Doubt }): Promise<void> {
    const done = await this.ports.happened(
      client,
      batch.map(({ operation }) => operation),
      about,
    );
    this.doubt = null;
    if (!done) return this.putBack(batch);
    this.tell(batch, about.outcomes);
  }

  private async reconnectLater(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, this.reconnectInMs));
    this.reconnectInMs = Math.min(this.reconnectInMs * 2, RECONNECT_AT_MOST_MS);
  }
}

/** A standby answers too; only a primary can be counted on. */
async function assertTakesWrites(client: Client): Promise<void> {
  const { rows } = await client.query<{ transaction_read_only: string }>("SHOW transaction_read_only");
  if (rows[0]?.transaction_read_only !== "off") throw new Error("the database takes no writes");
}
