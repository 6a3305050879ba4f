// The writers of one process. An organization's operations always use the same connection, so that each process waits
// for its row at most once at a time, and organizations on different connections commit in parallel (money.md §7).
import type { Client } from "pg";
import type { Jobs } from "../../lib/jobs.ts";
import type { PostgresStore } from "../../store/postgres.ts";
import { errorKind, wasCutIdle, wasRefused } from "../../store/postgres-error.ts";
import { GroupCommit } from "../commit/group-commit.ts";
import type { Writer } from "../commit/writer.ts";
import type { Pulse } from "../commit/pulse.ts";
import type { Spool } from "../commit/spool.ts";
import { decisionRank, organizationOf, survives } from "../commit/operations.ts";
import type { MoneyOperation, MoneyOutcome } from "../decide/decide.ts";
import { type CommitPorts, commitBatch, happened } from "./commit.ts";

export interface WriterPoolPorts {
  store: Pick<PostgresStore, "connect">;
  commit: CommitPorts;
  spool: Spool;
  takeBack(operation: MoneyOperation): void;
  pulse: Pulse;
  jobs: Jobs;
}

/** The number of operations that may wait for one writer. */
const QUEUE = 5_000;

/** Several group commits side by side; operations of one organization always go to the same one. */
export class WriterPool {
  private readonly writers: GroupCommit<MoneyOperation, MoneyOutcome>[];

  constructor(count: number, ports: WriterPoolPorts) {
    const { store, commit, spool, pulse, jobs } = ports;
    this.writers = Array.from(
      { length: count },
      (_, index) =>
        new GroupCommit<MoneyOperation, MoneyOutcome>({
          open: (lost) => openWriter(() => store.connect(`writer ${index + 1}`), { commit, lost }),
          errorKind,
          wasRefused,
          wasCutIdle,
          rank: decisionRank,
          outlives: survives,
          spool,
          pulse,
          jobs,
          takeBack: (operation) => ports.takeBack(operation),
          queue: QUEUE,
        }),
    );
  }

  async open(): Promise<void> {
    await Promise.all(this.writers.map((writer) => writer.open()));
  }

  get ready(): boolean {
    return this.writers.every(({ ready }) => ready);
  }

  /** Why one of them takes no writes; null while all do. */
  get trouble(): string | null {
    return this.writers.find(({ trouble }) => trouble !== null)?.trouble ?? null;
  }

  /** The number of waiting operations, over all writers. */
  get waiting(): number {
    return this.writers.reduce((sum, { waiting }) => sum + waiting, 0);
  }

  submit(operation: MoneyOperation): Promise<MoneyOutcome> {
    return this.writerOf(organizationOf(operation)).submit(operation);
  }

  /** True if the writer of this organization tries operations now. */
  triesFor(organizationId: string): boolean {
    return this.writerOf(organizationId).tries;
  }

  private writerOf(organizationId: string): GroupCommit<MoneyOperation, MoneyOutcome> {
    const writer = this.writers[hashOf(organizationId) % this.writers.length];
    if (writer === undefined) throw new Error("a ledger without writers");
    return writer;
  }

  async close(): Promise<void> {
    await Promise.all(this.writers.map((writer) => writer.close()));
  }
}

async function openWriter(
  connect: () => Promise<Client>,
  { commit, lost }: { commit: CommitPorts; lost: () => void },
): Promise<Writer<MoneyOperation, MoneyOutcome>> {
  const client = await connect();
  await assertTakesWrites(client).catch(async (error: unknown) => {
    await client.end().catch(() => {}); // it takes no writes, so nothing is lost with it
    throw error;
  });
  client.once("end", lost);
  let endedBy: unknown;
  client.on("error", (error) => (endedBy ??= error));
  return {
    commit: (operations) =>
      commitBatch(client, operations, commit).catch((error: unknown) => {
        // If the server gave its reason between two flights, the next one fails with a different error.
        throw wasCutIdle(endedBy) ? endedBy : error;
      }),
    happened: (operations, about) => happened(client, operations, about, commit),
    hasRoom: () => true,
    close: () => client.end(),
  };
}

/** A standby answers, too, but only a primary takes writes. */
async function assertTakesWrites(client: Client): Promise<void> {
  const { rows } = await client.query<{ transaction_read_only: string }>("SHOW transaction_read_only");
  if (rows[0]?.transaction_read_only !== "off") throw new Error("the database does not accept writes");
}

/** FNV-1a: spreads organizations evenly; nothing depends on which writer one gets. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0;
  return hash;
}
