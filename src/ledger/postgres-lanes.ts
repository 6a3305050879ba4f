// The lanes of one process: an organization's operations always take the same one, so that processes meet on its row at
// most once at a time, and organizations in different lanes commit at once (money.md §7).
import type { PostgresStore } from "../store/postgres.ts";
import { Lane } from "./lane.ts";
import { type CommitPorts, commitBatch, happened } from "./postgres-commit.ts";
import { type LaneOperation, type LaneOutcome, organizationOf } from "./postgres-operations.ts";
import type { Pulse } from "./pulse.ts";
import type { Spool } from "./spool.ts";

export interface LanesPorts {
  store: Pick<PostgresStore, "connect">;
  commit: CommitPorts;
  spool: Spool;
  takeBack(operation: LaneOperation): void;
  pulse: Pulse;
}

export class Lanes {
  private readonly lanes: Lane[];

  constructor(count: number, ports: LanesPorts) {
    const { store, commit, spool, pulse } = ports;
    this.lanes = Array.from(
      { length: count },
      (_, index) =>
        new Lane({
          connect: () => store.connect(`lane ${index + 1}`),
          commit: (client, operations) => commitBatch(client, operations, commit),
          happened,
          spool,
          pulse,
          takeBack: (operation) => ports.takeBack(operation),
        }),
    );
  }

  async open(): Promise<void> {
    await Promise.all(this.lanes.map((lane) => lane.open()));
  }

  get ready(): boolean {
    return this.lanes.every(({ ready }) => ready);
  }

  /** Why one of them takes nothing; null while all of them do. */
  get trouble(): string | null {
    return this.lanes.find(({ trouble }) => trouble !== null)?.trouble ?? null;
  }

  /** Operations that wait, of all lanes. */
  get waiting(): number {
    return this.lanes.reduce((sum, { waiting }) => sum + waiting, 0);
  }

  submit(operation: LaneOperation): Promise<LaneOutcome> {
    const lane = this.lanes[hashOf(organizationOf(operation)) % this.lanes.length];
    if (lane === undefined) throw new Error("a ledger without lanes");
    return lane.submit(operation);
  }

  async close(): Promise<void> {
    await Promise.all(this.lanes.map((lane) => lane.close()));
  }
}

/** FNV-1a: spreads organizations evenly; nothing depends on which lane it is. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0;
  return hash;
}
