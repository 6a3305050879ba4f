// The floor of the ledger on PostgreSQL, like `lean-sqlite.ts` on SQLite: the same rows in the product's own tables,
// and an admission durable before anything is sent. Each batch is one round trip, because nothing is loaded, decided
// or compared with what was read (performance.md §5).
import { loadConfig } from "../src/config/config.ts";
import { askTogether, type Parameter, type Question } from "../src/ledger/postgres/flight.ts";
import { namedStatement, transposed } from "../src/ledger/postgres/query.ts";
import { newRequestId } from "../src/lib/id.ts";
import { openPostgresStore } from "../src/store/postgres.ts";
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

const keys = namedStatement(
  "lean_keys",
  "SELECT digest, revoked_at FROM api_key WHERE org_id = $1 AND key_id = $2",
);
const lock = namedStatement(
  "lean_lock",
  "SELECT 1 FROM org_balance WHERE org_id = $1 AND slot = 0 FOR UPDATE",
);
const close = namedStatement(
  "lean_close",
  `UPDATE request SET state = 'settled', closed_txn = $3, ended_at = $4, evidence = 'provider_usage',
     prompt_tokens = ${PROMPT_TOKENS}, completion_tokens = ${COMPLETION_TOKENS}, cached_tokens = 0, reasoning_tokens = 0,
     charge = $5, status = 200, finish_reason = 'stop', first_part_ms = 3, total_ms = 3, attempts = $6
   WHERE org_id = $1 AND request_id = ANY($2::text[]) AND state = 'dispatched'`,
);
const open = namedStatement(
  "lean_open",
  `INSERT INTO request (org_id, request_id, key_id, model, tier, stream, state, epoch, admitted_at, deadline_at, month,
     release_digest, hold, prompt_bound, output_bound, opened_txn, surface)
   SELECT $1::text, r.id, $3::text, $4::text, 'standard', false, 'dispatched', $5::bigint, $6::bigint, $7::bigint, $8::text,
     $9::text, $10::bigint, 100, 4096, $11::bigint, 'chat.completions'
   FROM unnest($2::text[]) AS r (id)`,
);
const month = namedStatement(
  "lean_month",
  `INSERT INTO key_month (org_id, key_id, month, held, spent, last_admitted_at) VALUES ($1, $2, $3, $4, $5, $6)
   ON CONFLICT (org_id, key_id, month) DO UPDATE SET held = excluded.held, spent = excluded.spent,
     last_admitted_at = excluded.last_admitted_at`,
);
const usage = namedStatement(
  "lean_usage",
  `INSERT INTO usage_hour AS had (org_id, key_id, model, hour, requests, input_tokens, cached_tokens, output_tokens, charge)
   VALUES ($1, $2, $3, $4, $5, $6, 0, $7, $8)
   ON CONFLICT (org_id, key_id, model, hour) DO UPDATE SET requests = had.requests + excluded.requests,
     input_tokens = had.input_tokens + excluded.input_tokens, output_tokens = had.output_tokens + excluded.output_tokens,
     charge = had.charge + excluded.charge`,
);
const entries = namedStatement(
  "lean_entries",
  `INSERT INTO ledger_entry (org_id, slot, version, txn, kind, debit, credit, amount, available_before, available_after,
     held_before, held_after, requests, reference, at, prev_hash, hash)
   SELECT $1::text, 0, r.version, $2::bigint, r.kind, r.debit, r.credit, r.amount, r.av_before, r.av_after, r.held_before,
     r.held_after, r.requests, NULL, $3::bigint, r.prev_hash, r.hash
   FROM unnest($4::bigint[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[],
     $12::bigint[], $13::bigint[], $14::bytea[], $15::bytea[])
     AS r (version, kind, debit, credit, amount, av_before, av_after, held_before, held_after, requests, prev_hash, hash)`,
);
const balance = namedStatement(
  "lean_balance",
  `UPDATE org_balance SET available = $2, held = $3, spent = $4, version = $5, head_hash = $6, stamped_at = $7
   WHERE org_id = $1 AND slot = 0`,
);
const BEGIN: Question = { statement: namedStatement("BEGIN", "BEGIN"), values: [] };
const COMMIT: Question = { statement: namedStatement("COMMIT", "COMMIT"), values: [] };

/** The organization and key of all requests, and the terms of each admission. */
interface Terms {
  organizationId: string;
  keyId: string;
  model: string;
  digest: string;
  epoch: number;
}

const ask = (text: Question["statement"], ...values: Parameter[]): Question => ({ statement: text, values });

/** Writes a batch in one round trip. */
function questionsOf(batch: readonly Waiting[], terms: Terms, books: LeanBooks): Question[] {
  const requests = { settled: idsOf(batch, "settle"), admitted: idsOf(batch, "admit") };
  const rows = written(requests, terms, books);
  return [BEGIN, ask(lock, terms.organizationId), ...rows, COMMIT];
}

/** The rows of a batch; advances the books to the state after it. */
function written(
  { settled, admitted }: { settled: string[]; admitted: string[] },
  { organizationId, keyId, model, digest, epoch }: Terms,
  books: LeanBooks,
): Question[] {
  const nowMs = Date.now();
  books.txn += 1;
  const { txn } = books;
  const posted = books.post({ ended: settled.length, begun: admitted.length });
  const questions: Question[] = [];
  if (settled.length > 0) {
    questions.push(ask(close, organizationId, settled, txn, nowMs, CHARGE, ATTEMPTS));
    const tokens = [PROMPT_TOKENS * settled.length, COMPLETION_TOKENS * settled.length];
    const charge = CHARGE * settled.length;
    questions.push(
      ask(usage, organizationId, keyId, model, hourOf(nowMs), settled.length, ...tokens, charge),
    );
  }
  if (admitted.length > 0) {
    const opened = [keyId, model, epoch, nowMs, nowMs + TIMEOUT_MS, monthOf(nowMs), digest, HOLD, txn];
    questions.push(ask(open, organizationId, admitted, ...opened));
  }
  const rows = posted.map(({ version, available: of, held: at, former, hash, ...row }) => {
    const { kind, debit, credit, amount, requests } = row;
    const around = [of.before, of.after, at.before, at.after];
    return [version, kind, debit, credit, amount, ...around, requests, former, hash];
  });
  const { available, held, spent, version, head } = books;
  return [
    ...questions,
    ask(month, organizationId, keyId, monthOf(nowMs), held, spent, nowMs),
    ask(entries, organizationId, txn, nowMs, ...transposed<Parameter>(rows, 12)),
    ask(balance, organizationId, available, held, spent, version, head, nowMs),
  ];
}

/** Sets up the empty database at `url` with one organization and one key. */
export async function openLeanPostgres(directory: string, url: string): Promise<LeanLedger> {
  const config = loadConfig({ env: process.env, cwd: directory, flags: { dataDir: directory } });
  const key = await organizationWithKey(config);
  const store = await openPostgresStore(url, config.dataDir);
  const client = await store.connect("lean");
  const epoch = await store.nextEpoch();
  const { digest, model } = releaseOf();
  const terms = { ...key, model, digest, epoch };
  const books = new LeanBooks(epoch * 1e9);
  const reader = await store.connect("lean_keys");

  let waiting: Waiting[] = [];
  let running = false;

  function submit(requestId: string, step: Step): Promise<void> {
    const { promise, resolve: done } = Promise.withResolvers<void>();
    waiting.push({ requestId, step, done });
    start();
    return promise;
  }

  function start(): void {
    if (running) return;
    running = true;
    setImmediate(() => void run());
  }

  async function run(): Promise<void> {
    const batch = waiting;
    waiting = [];
    await askTogether(client, questionsOf(batch, terms, books));
    running = false;
    for (const { done } of batch) done();
    if (waiting.length > 0) start();
  }

  let proofs: Promise<void> | null = null;

  /** Reads the key once for all requests of one turn of the event loop. */
  function prove(): Promise<void> {
    proofs ??= new Promise((resolve, reject) => {
      setImmediate(() => {
        proofs = null;
        askTogether(reader, [{ statement: keys, values: [key.organizationId, key.keyId] }]).then(
          () => resolve(),
          reject,
        );
      });
    });
    return proofs;
  }

  return {
    prove,
    admit: async () => {
      const requestId = newRequestId(Date.now());
      await submit(requestId, "admit");
      return requestId;
    },
    settle: (requestId) => submit(requestId, "settle"),
  };
}
