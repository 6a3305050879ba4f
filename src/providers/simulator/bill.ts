// What the simulator would invoice: every call it received, with the tokens it counted. The oracle of the tests: each
// call is dispatched at most once, and the gateway's ledger agrees (interfaces.md §6, money.md I18).

export interface BilledCall {
  /** The gateway's `x-request-id` and `x-tollgate-attempt`; null if the caller sent none. */
  request_id: string | null;
  attempt: number | null;
  model: string;
  stream: boolean;
  prompt_tokens: number;
  /** Generated so far. */
  completion_tokens: number;
  /** `refused`: answered without running anything. */
  outcome: "running" | "finished" | "cut" | "refused";
  /** True if a provider would charge for it. */
  billed: boolean;
  /** When the call arrived, Unix milliseconds. */
  arrived_at_ms: number;
  /** From its arrival to its end; 0 while it runs. */
  seconds: number;
}

const CALLS_KEPT = 200_000;

/** Keeps at least the newest 100,000 calls. */
export class ProviderBill {
  private list: { call: BilledCall; startedAtMs: number }[] = [];

  open(call: Pick<BilledCall, "request_id" | "attempt" | "model" | "stream">): OpenCall {
    const entry = {
      call: {
        ...call,
        prompt_tokens: 0,
        completion_tokens: 0,
        outcome: "running",
        billed: false,
        arrived_at_ms: Date.now(),
        seconds: 0,
      } as BilledCall,
      startedAtMs: performance.now(),
    };
    this.list.push(entry);
    if (this.list.length > CALLS_KEPT) this.list = this.list.slice(CALLS_KEPT / 2);
    return new OpenCall(entry);
  }

  /** Returns all calls in order of arrival. */
  calls(): BilledCall[] {
    return this.list.map(({ call }) => ({ ...call }));
  }

  clear(): void {
    this.list = [];
  }
}

/** One running call: updated with its usage, and once with its end. */
export class OpenCall {
  constructor(private readonly entry: { call: BilledCall; startedAtMs: number }) {}

  /** Called when the model begins to work on the prompt: from here on it costs money. */
  runs(promptTokens: number): void {
    this.entry.call.prompt_tokens = promptTokens;
    this.entry.call.billed = true;
  }

  generated(tokens: number): void {
    this.entry.call.completion_tokens += tokens;
  }

  /** Only the first call counts. */
  end(outcome: Exclude<BilledCall["outcome"], "running">): void {
    const { call, startedAtMs } = this.entry;
    if (call.outcome !== "running") return;
    call.outcome = outcome;
    call.seconds = Math.round(performance.now() - startedAtMs) / 1000;
  }
}
