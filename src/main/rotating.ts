// Changes everything that depends on the data key, in one open transaction of either store.
import { resealChannels } from "../alerts/rule-book.ts";
import { byItself, INSTALLATION } from "../domain/actor.ts";
import { receiptKeyOf } from "../gateway/signed-receipt.ts";
import type { KeyChange } from "../ledger/answer-vault.ts";
import { type HowFar, type Resealed, resealAnswers } from "../ledger/reseal.ts";
import type { Say } from "../lib/aloud.ts";
import { crashPoint } from "../lib/crash-point.ts";
import { anybodyKept, endSessions, factors, keepFactors, resealedFactor } from "../people/reseal.ts";
import { forgetReceiptKeys, retireReceiptKey } from "../registry/receipt-keys.ts";
import { appendAuditLine } from "../store/audit-log.ts";
import { dataKeyCheck } from "../store/data-key.ts";
import { ask, type Query } from "../store/sql.ts";

/** The store, and why its key is changed: a leaked key invalidates more than a replaced one. */
export interface RotateAsk {
  dataDir: string;
  /** Null means the embedded store. */
  databaseUrl: string | null;
  /** Somebody else may have the old key: its signatures no longer prove anything. */
  leaked: boolean;
  told: HowFar;
  /** Receives what it waits for. */
  say: Say;
}

/** The data that depended on the old key. */
export interface Rotation {
  answers: Resealed;
  channels: Resealed;
  factors: Resealed;
  /** Sessions ended: everybody has to sign in again. */
  sessions: number;
}

/** The open transaction in which a key changes. */
export interface Rotating {
  run: <T>(query: Query<T>) => Promise<T>;
  /** True if a store of people exists. */
  people: boolean;
  nowMs: number;
}

/**
 * Changes everything that depends on the key, to be committed together. Nobody else writes in the meantime.
 */
export async function rotated(
  { run, people, nowMs }: Rotating,
  change: KeyChange,
  { leaked, told }: Pick<RotateAsk, "leaked" | "told">,
): Promise<Rotation> {
  const answers = await run(resealAnswers(change, told));
  crashPoint("rotate_resealing");
  const channels = await run(resealChannels(change));
  const anybody = people && (await run(anybodyKept()));
  const ofPeople = anybody ? await rotatedPeople(run, change) : NOBODY;
  const [was, is] = [receiptKeyOf(change.from), receiptKeyOf(change.to)];
  await run(leaked ? forgetReceiptKeys() : retireReceiptKey(was, nowMs));
  const note = {
    actor: byItself(INSTALLATION),
    action: "data_key.rotate",
    organizationId: null,
    target: "data_key",
    before: { receipt_key: was.kid },
    after: { receipt_key: is.kid, leaked },
  };
  await run(appendAuditLine(note, nowMs));
  await run(ask("UPDATE store_state SET data_key_check = ?1 WHERE id = 1", [dataKeyCheck(change.to)]));
  crashPoint("rotate_resealed");
  return { answers, channels, ...ofPeople };
}

const NOBODY: Pick<Rotation, "factors" | "sessions"> = {
  factors: { resealed: 0, unreadable: 0 },
  sessions: 0,
};

async function rotatedPeople(run: Rotating["run"], change: KeyChange): Promise<typeof NOBODY> {
  const kept = await run(factors());
  const tried = await Promise.all(kept.map((factor) => resealedFactor(factor, change)));
  const anew = tried.filter((factor) => factor !== null);
  await run(keepFactors(anew));
  const sessions = await run(endSessions());
  return { factors: { resealed: anew.length, unreadable: kept.length - anew.length }, sessions };
}
