// What keeps an upstream call alive: the client's socket (unless a caller's key asks for the whole answer), and the deadline.
// Cutting it aborts the upstream within milliseconds (money.md §4, "client gone").
import { type Member, Roster } from "../lib/roster.ts";
import { Failure } from "../providers/failure.ts";
import type { CallSignal, CutListener } from "../providers/provider.ts";

/** The scope is itself the signal of its calls: an AbortSignal costs 2 µs, and a second one behind it as much again. */
export class CallScope implements CallSignal, Member {
  rosterPlace = -1;
  private cutFor: Failure | null = null;
  /** The current call: a request has one at a time. */
  private call: CutListener | null = null;
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
    else client.addEventListener("abort", this);
  }

  get aborted(): boolean {
    return this.cutFor !== null;
  }

  addEventListener(_abort: "abort", call: CutListener): void {
    this.call = call;
  }

  removeEventListener(_abort: "abort", call: CutListener): void {
    if (this.call === call) this.call = null;
  }

  get left(): boolean {
    return this.clientLeft;
  }

  /** Why the call was cut, if it was. */
  get reason(): Failure | null {
    return this.cutFor;
  }

  /** The client's signal has fired. */
  handleEvent(): void {
    this.leave();
  }

  /** The client is gone. */
  leave(): void {
    if (this.clientLeft) return;
    this.clientLeft = true;
    if (!this.options.outlivesClient) this.cut(new Failure("aborted", "unknown", "the client disconnected"));
  }

  /** Only the first reason counts. */
  cut(reason: Failure): void {
    if (this.cutFor !== null) return;
    this.cutFor = reason;
    this.call?.handleEvent();
  }

  /** The request ended; nothing fires after this. */
  close(): void {
    clearTimeout(this.timer);
    this.client.removeEventListener("abort", this);
    this.closed(this);
  }
}

const pastDeadline = (callScope: CallScope): void =>
  callScope.cut(new Failure("timeout", "unknown", "the deadline of the request passed"));

/** All requests that run in this process, for its shutdown. */
export class CallScopes {
  private readonly open = new Roster<CallScope>();
  private ended: PromiseWithResolvers<void> | null = null;

  begin(client: AbortSignal, options: ConstructorParameters<typeof CallScope>[1]): CallScope {
    const callScope = new CallScope(client, options, this.close);
    this.open.add(callScope);
    return callScope;
  }

  get size(): number {
    return this.open.size;
  }

  /** Cuts the requests still running: each then ends by evidence. */
  cutAll(): void {
    for (const callScope of this.open.all())
      callScope.cut(new Failure("stopped", "unknown", "the gateway stopped"));
  }

  /** Resolves when every request has been settled or voided. */
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
