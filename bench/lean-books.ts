// What both floors of the ledger share: an organization with credits and a key as the product makes them, and its
// books, kept in memory by the single program that writes them.
import type { Config } from "../src/config/config.ts";
import { HOUR_MS } from "../src/domain/durations.ts";
import { FORMATS } from "../src/gateway/formats/formats.ts";
import { createLog } from "../src/lib/log.ts";
import { jobsOn } from "../src/main/jobs.ts";
import { openStore } from "../src/main/store.ts";
import { releaseOf, World } from "../test/ledger/world.ts";
import { answeredAttempt } from "./pairs.ts";

export const HOLD = 20_000_000;
export const CHARGE = 10_000_000;
export const PROMPT_TOKENS = 40;
export const COMPLETION_TOKENS = 150;
export const ATTEMPTS = JSON.stringify([answeredAttempt(releaseOf())]);

/** What a floor of the ledger does for a request; each promise resolves once the result is durable. */
export interface LeanLedger {
  /** Reads the request's key now. */
  prove: () => Promise<void>;
  /** Returns the id of the request. */
  admit: () => Promise<string>;
  settle: (requestId: string) => Promise<void>;
}

export type Step = "admit" | "settle";

/** A request that waits for the next batch. */
export interface Waiting {
  requestId: string;
  step: Step;
  /** Called once it is durable. */
  done: () => void;
}

export const idsOf = (batch: readonly Waiting[], step: Step): string[] =>
  batch.filter((one) => one.step === step).map(({ requestId }) => requestId);

/** From admission to its deadline, milliseconds. */
export const TIMEOUT_MS = 300_000;

export const monthOf = (nowMs: number): string => new Date(nowMs).toISOString().slice(0, 7);
export const hourOf = (nowMs: number): number => Math.floor(nowMs / HOUR_MS);

export async function organizationWithKey(
  config: Config,
): Promise<{ organizationId: string; keyId: string }> {
  const store = await openStore(config, {
    clock: undefined,
    jobs: jobsOn(createLog("error")),
    formats: FORMATS,
  });
  const world = new World(store.ledger);
  await world.publish();
  const key = await world.key(await world.organization(1_000_000));
  await store.ledger.close();
  await store.close();
  return key;
}

/** A row of `ledger_entry` from its version on, without organization, slot and reference. */
export interface LeanEntry {
  version: number;
  kind: string;
  debit: string;
  credit: string;
  amount: number;
  available: { before: number; after: number };
  held: { before: number; after: number };
  requests: number;
  former: Uint8Array;
  hash: Uint8Array;
}

export class LeanBooks {
  available = 1_000_000e9;
  held = 0;
  spent = 0;
  version = 1;
  head: Uint8Array = new Uint8Array(32);

  constructor(public txn: number) {}

  /** The entries of a batch: one row per kind, chained by its hash. */
  post({ ended, begun }: { ended: number; begun: number }): LeanEntry[] {
    return [
      ...this.entry({ kind: "charge", debit: "held", credit: "revenue", each: CHARGE }, ended),
      ...this.entry({ kind: "rest", debit: "held", credit: "available", each: HOLD - CHARGE }, ended),
      ...this.entry({ kind: "hold", debit: "available", credit: "held", each: HOLD }, begun),
    ];
  }

  private entry(
    { kind, debit, credit, each }: { kind: string; debit: string; credit: string; each: number },
    requests: number,
  ): LeanEntry[] {
    if (requests === 0) return [];
    const amount = each * requests;
    const before = { available: this.available, held: this.held };
    if (debit === "available") this.available -= amount;
    if (debit === "held") this.held -= amount;
    if (credit === "available") this.available += amount;
    if (credit === "held") this.held += amount;
    if (credit === "revenue") this.spent += amount;
    this.version += 1;
    const figures = [this.version, this.txn, kind, debit, credit, amount, before.available, this.available];
    const former = this.head;
    this.head = new Bun.CryptoHasher("sha256").update(former).update(figures.join("|")).digest();
    return [
      {
        version: this.version,
        kind,
        debit,
        credit,
        amount,
        available: { before: before.available, after: this.available },
        held: { before: before.held, after: this.held },
        requests,
        former,
        hash: this.head,
      },
    ];
  }
}
