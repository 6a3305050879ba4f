// What a process remembers of the requests that it admitted, while they run: which number each was admitted under, and of those
// that may count for a limit, whose it is, so that nobody reads again what never changes. It saves reads and decides nothing.
import type { RatePlace } from "../../domain/rate-limits.ts";

export class OwnRequests {
  private readonly epochs = new Map<string, number>();
  private readonly places = new Map<string, RatePlace>();

  /** How many of them are remembered. */
  get size(): number {
    return Math.max(this.epochs.size, this.places.size);
  }

  /** Its admission is durable. `limited`: it may count for a limit. */
  opened(
    { organizationId, keyId, model, requestId, epoch }: RatePlace & { requestId: string; epoch: number },
    limited: boolean,
  ): void {
    this.epochs.set(requestId, epoch);
    if (limited) this.places.set(requestId, { organizationId, keyId, model });
  }

  /** However it ended; nothing where it is not remembered. */
  ended(requestId: string): void {
    this.epochs.delete(requestId);
    this.places.delete(requestId);
  }

  /** The number that it was admitted under. */
  epochOf(requestId: string): number | undefined {
    return this.epochs.get(requestId);
  }

  placeOf(requestId: string): RatePlace | undefined {
    return this.places.get(requestId);
  }
}
