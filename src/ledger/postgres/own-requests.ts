// What a process remembers of its running requests: their rows as its own transactions left them, so
// that their ends need not read them again. A decision based on such a row is written only if the store
// still has that row (`column-writes.ts`); if not, the rows are doubted and the batch reads them.
import { Register } from "../../lib/roster.ts";
import type { RatePlace } from "../../domain/rate-limits.ts";
import type { Changes, RequestRow } from "../rows.ts";

interface OwnRequest {
  row: RequestRow;
  /** True if it may count towards a limit. */
  limited: boolean;
  /** True if the store's row was found to differ, or may differ. */
  doubted: boolean;
}

export class OwnRequests {
  private readonly requests = new Register<string, OwnRequest>();

  /** The number of remembered requests. */
  get size(): number {
    return this.requests.size;
  }

  /** Records the changes of a committed transaction. `limited`: whether an organization's requests may count towards a limit. */
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

  /** Forgets the request, however it ended; does nothing if it is not remembered. */
  ended(requestId: string): void {
    this.requests.take(requestId);
  }

  /** Makes their rows be read from now on. Returns whether any of them was not doubted before. */
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

  /** Returns a copy of its row that the caller may change; undefined if it must be read. */
  rowOf(organizationId: string, requestId: string): RequestRow | undefined {
    const own = this.requests.get(requestId);
    return own === undefined || own.doubted || own.row.organizationId !== organizationId
      ? undefined
      : { ...own.row };
  }

  /** Returns the epoch that it was admitted under. */
  epochOf(requestId: string): number | undefined {
    return this.requests.get(requestId)?.row.epoch;
  }

  /** Returns its place if it may count towards a limit. */
  placeOf(requestId: string): RatePlace | undefined {
    const own = this.requests.get(requestId);
    return own?.limited === true ? own.row : undefined;
  }
}

/** The row as a batch would load it after its admission (`LOAD.request`). */
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
