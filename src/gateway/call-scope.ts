// What keeps an upstream call alive: the client's socket (only where no caller's key asks for the whole answer), and
// the deadline. Cutting it aborts the upstream within milliseconds (money.md §4, "client gone").
import { Failure } from "../providers/failure.ts";

export class CallScope {
  private readonly controller = new AbortController();
  private readonly timer: ReturnType<typeof setTimeout>;
  private clientLeft = false;

  /** `outlivesClient`: a keyed request runs to its end, so that the retry gets all of it. */
  constructor(
    private readonly client: AbortSignal,
    private readonly options: { timeoutMs: number; outlivesClient: boolean },
    private readonly closed: (callScope: CallScope) => void,
  ) {
    this.timer = setTimeout(pastDeadline, options.timeoutMs, this);
    if (client.aborted) this.leave();
    else client.addEventListener("abort", this, { once: true });
  }

  /** For the upstream call. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  get left(): boolean {
    return this.clientLeft;
  }

  /** Why it was cut, if it was. */
  get reason(): Failure | null {
    return this.signal.aborted && this.signal.reason instanceof Failure ? this.signal.reason : null;
  }

  /** The client's signal fired. */
  handleEvent(): void {
    this.leave();
  }

  /** The client is gone. */
  leave(): void {
    if (this.clientLeft) return;
    this.clientLeft = true;
    if (!this.options.outlivesClient) this.cut(new Failure("aborted", "unknown", "the client left"));
  }

  cut(reason: Failure): void {
    this.controller.abort(reason);
  }

  /** The request ended; nothing fires any more. */
  close(): void {
    clearTimeout(this.timer);
    this.client.removeEventListener("abort", this);
    this.closed(this);
  }
}

const pastDeadline = (callScope: CallScope): void =>
  callScope.cut(new Failure("timeout", "unknown", "the deadline of the request passed"));

/** All requests that run in this process, for its stop. */
export class CallScopes {
  private readonly open = new Set<CallScope>();
  private ended: PromiseWithResolvers<void> | null = null;

  begin(client: AbortSignal, options: ConstructorParameters<typeof CallScope>[1]): CallScope {
    const callScope = new CallScope(client, options, this.close);
    this.open.add(callScope);
    return callScope;
  }

  /** Cuts what still runs: each request then ends by evidence. */
  cutAll(): void {
    for (const callScope of this.open)
      callScope.cut(new Failure("stopped", "unknown", "the gateway stopped"));
  }

  /** Resolves when every request has been settled or released. */
  idle(): Promise<void> {
    if (this.open.size === 0) return Promise.resolve();
    this.ended ??= Promise.withResolvers<void>();
    return this.ended.promise;
  }

  private readonly close = (callScope: CallScope): void => {
    this.open.delete(callScope);
    if (this.open.size > 0) return;
    this.ended?.resolve();
    this.ended = null;
  };
}
