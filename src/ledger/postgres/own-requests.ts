// What a process remembers of the requests that it admitted, while they run: their rows as its own transactions left them, so
// that their ends need not read them again. What is decided on such a row is written only where the store still has it so
// (`column-writes.ts`); where it has not, the rows are doubted and the batch reads them.
import { Register } from "../../lib/roster.ts";
import type { RatePlace } from "../../domain/rate-limits.ts";
import type { Changes, RequestRow } from "../rows.ts";

interface OwnRequest {
  row: RequestRow;
  /** It may count for a limit. */
  limited: boolean;
  /** The store was found to have it otherwise, or may have. */
  doubted: boolean;
}

export class OwnRequests {
  private readonly requests = new Register<string, OwnRequest>();

  /** How many of them are remembered. */
  get size(): number {
    return this.requests.size;
  }

  /** What a transaction is known to have changed. `limited`: whether requests of an organization may count for a limit. */
  changed(
    { opened, lowered, checkpoints, closed }: Pick<Changes, "opened" | "lowered" | "checkpoints" | "closed">,
    limited: (organizationId: string) => boolean,
  ): void {
    for (const request of opened)
      this.requests.set(request.requestId, {
        row: admittedRow(request),
        limited: limited(request.organizationId),
        doubted: false,
      });
    for (const { requestId, hold, promptBound } of lowered) {
      const own = this.requests.get(requestId);
      if (own !== undefined) Object.assign(own.row, { hold, promptBound, lowered: true });
    }
    for (const { requestId } of checkpoints) {
      const own = this.requests.get(requestId);
      if (own !== undefined) own.row.checkpointed = true;
    }
    for (const { requestId } of closed) this.ended(requestId);
  }

  /** However it ended; nothing where it is not remembered. */
  ended(requestId: string): void {
    this.requests.take(requestId);
  }

  /** Their rows are read from now on. Whether one of them was not doubted before. */
  doubt(requests: Iterable<{ requestId: string }>): boolean {
    let news = false;
    for (const { requestId } of requests) {
      const own = this.requests.get(requestId);
      if (own === undefined || own.doubted) continue;
      own.doubted = true;
      news = true;
    }
    return news;
  }

  /** Its row, the caller's to change; undefined where it has to be read. */
  rowOf(organizationId: string, requestId: string): RequestRow | undefined {
    const own = this.requests.get(requestId);
    return own === undefined || own.doubted || own.row.organizationId !== organizationId
      ? undefined
      : { ...own.row };
  }

  /** The number that it was admitted under. */
  epochOf(requestId: string): number | undefined {
    return this.requests.get(requestId)?.row.epoch;
  }

  /** Whose it is, where it may count for a limit. */
  placeOf(requestId: string): RatePlace | undefined {
    const own = this.requests.get(requestId);
    return own?.limited === true ? own.row : undefined;
  }
}

/** As a batch would load it after its admission (`LOAD.request`). */
const admittedRow = ({
  organizationId,
  requestId,
  keyId,
  idempotencyKey,
  model,
  epoch,
  admittedAtMs,
  month,
  hold,
  promptBound,
  outputBound,
}: Changes["opened"][number]): RequestRow => ({
  organizationId,
  requestId,
  keyId,
  idempotencyKey,
  model,
  state: "dispatched",
  epoch,
  closedTxn: null,
  admittedAtMs,
  month,
  hold,
  promptBound,
  outputBound,
  checkpointed: false,
  lowered: false,
});
