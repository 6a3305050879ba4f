// Runs one batch as one transaction in two round trips: begin, lock and load; decide here; write and commit (money.md §7).
import type { Client } from "pg";
import type { Clock } from "../../lib/clock.ts";
import { crashPoint } from "../../lib/crash-point.ts";
import { wasMisfit, wasRefused } from "../../store/postgres-error.ts";
import type { Trace } from "../commit/writer.ts";
import { type Committed, UnknownCommit } from "../commit/unknown-commit.ts";
import type { DatabaseClock } from "../database-clock.ts";
import { organizationOf } from "../commit/operations.ts";
import { decide, type MoneyOperation, type MoneyOutcome } from "../decide/decide.ts";
import type { BatchContext } from "../commit/batch-state.ts";
import { askTogether, type Question } from "./flight.ts";
import { type AskTogether, loadRows } from "./load.ts";
import type { OwnRequests } from "./own-requests.ts";
import type { PostgresRates } from "./load-rates.ts";
import type { Seen } from "./seen.ts";
import { askNamed, askOnce, namedStatement } from "./query.ts";
import { isEmpty, writesOf } from "./write.ts";
import type { Changes, RequestRow } from "../rows.ts";

export interface CommitPorts {
  databaseClock: DatabaseClock;
  /** The clock that rows are stamped with; null for the database's clock. */
  stamps: Clock | null;
  dataKey: Uint8Array;
  retention: BatchContext["retention"];
  rates: PostgresRates;
  isStopped: BatchContext["isStopped"];
  days: Seen;
  /** The epoch that this process admits under. */
  epoch(): number;
  /** Unique and increasing. */
  nextTransaction(): number;
  own: OwnRequests;
}

/** Commits the batch and returns outcomes in its order. Throws if it was rolled back; `UnknownCommit` if that is unknown. */
export async function commitBatch(
  client: Client,
  operations: readonly MoneyOperation[],
  ports: CommitPorts,
): Promise<Committed<MoneyOutcome>[]> {
  const txn = ports.nextTransaction();
  const { decided, changes, writes, requests } = await decideBatch(client, operations, { ...ports, txn });
  if (isEmpty(changes)) {
    // There is nothing to write. What was found may be reported only if it will not be lost with this
    // server; a commit with its locks held waits for the standby.
    if (decided.some(tellsOfEarlier)) await client.query("COMMIT");
    else rollBack(client);
    return decided;
  }
  crashAround(operations, "before");
  try {
    const answers = await askTogether(client, [...writes, COMMIT]);
    const tag = answers.at(-1)?.tag;
    if (tag !== "COMMIT") throw new Error(`COMMIT answered ${tag}`);
  } catch (error) {
    if (wasRefused(error)) {
      rollBack(client);
      // The remembered rows may be out of date: retry once with rows that are read.
      if (wasMisfit(error) && ports.own.doubt(requests)) return await commitBatch(client, operations, ports);
      throw error;
    }
    ports.own.doubt(requests);
    throw new UnknownCommit(txn, changes, decided, error);
  }
  remember(changes, ports);
  crashAround(operations, "after");
  return decided;
}

/** Remembers changes that are known to have happened. */
const remember = (changes: Changes, { own, rates }: CommitPorts): void =>
  own.changed(changes, (organizationId) => rates.expects(organizationId));

/** Not awaited: either nothing was written, or a statement failed and its error is the one that counts. */
function rollBack(client: Client): void {
  client.query("ROLLBACK").catch(() => {});
}

/** True if the outcome acknowledges an earlier transaction, which so far may have happened on this server alone. */
function tellsOfEarlier(committed: Committed<MoneyOutcome>): boolean {
  if (committed.kind !== "outcome") return false;
  const { kind } = committed.outcome;
  return kind === "replay" || kind === "repeated" || kind === "done";
}

const BEGIN: Question = { statement: namedStatement("BEGIN", "BEGIN"), values: [] };
const COMMIT: Question = { statement: namedStatement("COMMIT", "COMMIT"), values: [] };

interface DecidedBatch {
  decided: Committed<MoneyOutcome>[];
  changes: Changes;
  writes: Question[];
  /** The requests that the decision was based on. */
  requests: Iterable<RequestRow>;
}

async function decideBatch(
  client: Client,
  operations: readonly MoneyOperation[],
  ports: CommitPorts & { txn: number },
): Promise<DecidedBatch> {
  const { databaseClock, stamps, retention, txn } = ports;
  const aboutMs = (stamps ?? databaseClock).nowMs();
  const begin: AskTogether = async (questions) => {
    const [, ...answers] = await askTogether(client, [BEGIN, ...questions]);
    return answers.map((answer) => answer.rows);
  };
  const askMore: AskTogether = async (questions) =>
    (await askTogether(client, questions)).map((answer) => answer.rows);
  try {
    const { rates, days, own } = ports;
    const asking = { ask: begin, askMore };
    const epoch = ports.epoch();
    const terms = { epoch, aboutMs, rates, days, own };
    const { rows, databaseNowMs, owns } = await loadRows(asking, operations, terms);
    if (databaseNowMs !== null) databaseClock.read(databaseNowMs);
    const nowMs = stamps?.nowMs() ?? databaseNowMs ?? aboutMs;
    const { decided, changes } = decide(rows, operations, {
      nowMs,
      txn,
      epoch: owns ? epoch : null,
      retention,
      rateDefaults: rates.defaults,
      isStopped: ports.isStopped,
    });
    const requests = rows.requests.values();
    return { decided, changes, writes: writesOf(changes, ports.dataKey), requests };
  } catch (error) {
    rollBack(client);
    throw error;
  }
}

const LOCK = namedStatement(
  "lock_balances",
  "SELECT org_id FROM org_balance WHERE org_id = ANY($1::text[]) AND slot = 0 ORDER BY org_id FOR UPDATE",
);

/**
 * Returns whether the transaction in doubt happened. Takes its locks first, which waits for it if it
 * is still running. A transaction is atomic, so one of its rows is enough to tell.
 */
export async function happened(
  client: Client,
  operations: readonly MoneyOperation[],
  { txn, changes }: UnknownCommit<MoneyOutcome>,
  ports: CommitPorts,
): Promise<Trace> {
  const organizations = [...new Set(operations.map(organizationOf))].toSorted();
  const [, , found] = await Promise.all([
    client.query("BEGIN"),
    askNamed(client, LOCK, [organizations]),
    traceOf(client, txn, changes),
    client.query("COMMIT"),
  ]);
  if (!found) return "no";
  remember(changes, ports);
  return "yes";
}

async function traceOf(client: Client, txn: number, { entries, opened, closed }: Changes): Promise<boolean> {
  const [entry] = entries;
  const [request] = [...opened, ...closed];
  if (entry !== undefined) {
    const { organizationId, slot, version } = entry;
    const rows = await askOnce(
      client,
      "SELECT 1 FROM ledger_entry WHERE org_id = $1 AND slot = $2 AND version = $3 AND txn = $4",
      [organizationId, slot, version, txn],
    );
    return rows.length > 0;
  }
  // Checkpoints alone are harmless to repeat.
  if (request === undefined) return false;
  const rows = await askOnce(
    client,
    "SELECT 1 FROM request WHERE org_id = $1 AND request_id = $2 AND (opened_txn = $3 OR closed_txn = $3)",
    [request.organizationId, request.requestId, txn],
  );
  return rows.length > 0;
}

function crashAround(operations: readonly MoneyOperation[], when: "before" | "after"): void {
  for (const { kind } of operations) {
    if (kind === "admit") crashPoint(`${when}_commit1`);
    if (kind === "settle" || kind === "void") crashPoint(`${when}_commit2`);
  }
}
