// The floor of the ledger on SQLite: the least code that writes the same rows for each request, in the product's own
// tables and with the same durability. As in the product, all waiting operations are one transaction. Nothing is
// loaded, decided or compared with what was read, except the key, which is read anew for each request. The product's
// cost above this floor is the cost of deciding.
import type { Database } from "bun:sqlite";
import { loadConfig } from "../src/config/config.ts";
import { newRequestId } from "../src/lib/id.ts";
import { openSqliteStore } from "../src/store/sqlite.ts";
import { releaseOf } from "../test/ledger/world.ts";
import {
  ATTEMPTS,
  CHARGE,
  COMPLETION_TOKENS,
  HOLD,
  hourOf,
  idsOf,
  LeanBooks,
  type LeanLedger,
  monthOf,
  organizationWithKey,
  PROMPT_TOKENS,
  type Step,
  TIMEOUT_MS,
  type Waiting,
} from "./lean-books.ts";

/** Prepared once, like the product's. */
const statementsOf = (writer: Database) => ({
  prove: writer.prepare("SELECT digest, revoked_at FROM api_key WHERE org_id = ?1 AND key_id = ?2"),
  open: writer.prepare(
    `INSERT INTO request (org_id, request_id, key_id, model, tier, stream, state, epoch, admitted_at, deadline_at, month,
       release_digest, hold, prompt_bound, output_bound, opened_txn, surface)
     VALUES (?1, ?2, ?3, ?4, 'standard', 0, 'dispatched', ?5, ?6, ?7, ?8, ?9, ?10, 100, 4096, ?11, 'chat.completions')`,
  ),
  close: writer.prepare(
    `UPDATE request SET state = 'settled', closed_txn = ?3, ended_at = ?4, evidence = 'provider_usage', prompt_tokens = 40,
       completion_tokens = 150, cached_tokens = 0, reasoning_tokens = 0, charge = ?5, status = 200, finish_reason = 'stop',
       first_part_ms = 3, total_ms = 3, attempts = ?6
     WHERE org_id = ?1 AND request_id = ?2 AND state = 'dispatched'`,
  ),
  month: writer.prepare(
    `INSERT INTO key_month (org_id, key_id, month, held, spent, last_admitted_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
     ON CONFLICT (org_id, key_id, month) DO UPDATE SET held = excluded.held, spent = excluded.spent,
       last_admitted_at = excluded.last_admitted_at`,
  ),
  usage: writer.prepare(
    `INSERT INTO usage_hour (org_id, key_id, model, hour, requests, input_tokens, cached_tokens, output_tokens, charge)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0, ?7, ?8)
     ON CONFLICT (org_id, key_id, model, hour) DO UPDATE SET requests = requests + excluded.requests,
       input_tokens = input_tokens + excluded.input_tokens, output_tokens = output_tokens + excluded.output_tokens,
       charge = charge + excluded.charge`,
  ),
  entry: writer.prepare(
    `INSERT INTO ledger_entry (org_id, slot, version, txn, kind, debit, credit, amount, available_before, available_after,
       held_before, held_after, requests, reference, at, prev_hash, hash)
     VALUES (?1, 0, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, NULL, ?13, ?14, ?15)`,
  ),
  balance: writer.prepare(
    `UPDATE org_balance SET available = ?2, held = ?3, spent = ?4, version = ?5, head_hash = ?6, stamped_at = ?7
     WHERE org_id = ?1 AND slot = 0`,
  ),
});

/** Creates a store in `directory`, with one organization and one key. */
export async function openLeanSqlite(directory: string): Promise<LeanLedger> {
  const config = loadConfig({ env: process.env, cwd: directory, flags: { dataDir: directory } });
  const { organizationId, keyId } = await organizationWithKey(config);
  const { writer, epoch } = openSqliteStore(config.dataDir);
  const { digest, model } = releaseOf();
  const books = new LeanBooks(epoch * 1e9);
  const { prove, open, close, month, usage, entry, balance } = statementsOf(writer);

  let waiting: Waiting[] = [];

  function submit(requestId: string, step: Step): Promise<void> {
    const { promise, resolve: done } = Promise.withResolvers<void>();
    if (waiting.push({ requestId, step, done }) === 1) setImmediate(commit);
    return promise;
  }

  function commit(): void {
    const batch = waiting;
    waiting = [];
    const nowMs = Date.now();
    books.txn += 1;
    writer.run("BEGIN IMMEDIATE");
    const ended = end(idsOf(batch, "settle"), nowMs);
    const begun = begin(idsOf(batch, "admit"), nowMs);
    month.run(organizationId, keyId, monthOf(nowMs), books.held, books.spent, nowMs);
    for (const row of books.post({ ended, begun })) {
      const { version, kind, debit, credit, amount, available, held, requests, former, hash } = row;
      const moved = [organizationId, version, books.txn, kind, debit, credit, amount, available.before];
      entry.run(...moved, available.after, held.before, held.after, requests, nowMs, former, hash);
    }
    balance.run(organizationId, books.available, books.held, books.spent, books.version, books.head, nowMs);
    writer.run("COMMIT");
    for (const { done } of batch) done();
  }

  function end(ids: readonly string[], nowMs: number): number {
    const { length: ended } = ids;
    for (const requestId of ids) close.run(organizationId, requestId, books.txn, nowMs, CHARGE, ATTEMPTS);
    const tokens = [PROMPT_TOKENS * ended, COMPLETION_TOKENS * ended];
    if (ended > 0) usage.run(organizationId, keyId, model, hourOf(nowMs), ended, ...tokens, CHARGE * ended);
    return ended;
  }

  function begin(ids: readonly string[], nowMs: number): number {
    const terms = [epoch, nowMs, nowMs + TIMEOUT_MS, monthOf(nowMs), digest, HOLD, books.txn];
    for (const requestId of ids) open.run(organizationId, requestId, keyId, model, ...terms);
    return ids.length;
  }

  return {
    prove: async () => {
      if (prove.get(organizationId, keyId) === null) throw new Error("the key is gone");
    },
    admit: async () => {
      const requestId = newRequestId(Date.now());
      await submit(requestId, "admit");
      return requestId;
    },
    settle: (requestId) => submit(requestId, "settle"),
  };
}
