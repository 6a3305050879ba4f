// The upstream's own bill: what it would invoice each account (bearer token), independently of any gateway's books.
// It is the oracle of the conservation figures (performance.md §4.3).
import { PROMPT_TOKENS, SCRIPTS } from "./scripts.ts";
import type { ScriptName } from "./scripts.ts";

export interface ModelBill {
  calls: number;
  finished: number;
  cut: number;
  promptTokens: number;
  completionTokens: number;
}

/** `lastCutAtMs` is wall time with a fraction, comparable between processes of one machine. */
export interface Bill {
  models: Partial<Record<ScriptName, ModelBill>>;
  repeatedRequestIds: number;
  cuts: number;
  lastCutAtMs: number;
}

export const wallMs = (): number => performance.timeOrigin + performance.now();

/** One account's bill. Tokens are billed when a call finishes; a cut call is only counted. */
export class AccountBill {
  readonly #bill: Bill = { models: {}, repeatedRequestIds: 0, cuts: 0, lastCutAtMs: 0 };
  readonly #requestIds = new Set<string>();

  received(model: ScriptName, requestId: string | null): void {
    this.#of(model).calls += 1;
    if (requestId === null) return;
    if (this.#requestIds.has(requestId)) this.#bill.repeatedRequestIds += 1;
    this.#requestIds.add(requestId);
  }

  finished(model: ScriptName): void {
    const bill = this.#of(model);
    bill.finished += 1;
    bill.promptTokens += PROMPT_TOKENS;
    bill.completionTokens += SCRIPTS[model].completionTokens;
  }

  cut(model: ScriptName): void {
    this.#of(model).cut += 1;
    this.#bill.cuts += 1;
    this.#bill.lastCutAtMs = wallMs();
  }

  print(): Bill {
    return this.#bill;
  }

  #of(model: ScriptName): ModelBill {
    return (this.#bill.models[model] ??= {
      calls: 0,
      finished: 0,
      cut: 0,
      promptTokens: 0,
      completionTokens: 0,
    });
  }
}
