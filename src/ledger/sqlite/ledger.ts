// The ledger on SQLite: one writer connection whose batches are the only way in, so everything has one order
// and nothing about keys, limits or credits is cached (money.md §2, §7). Free reads use the same connection.
import { STORED_ANSWER_BYTES_MAX } from "../answer-vault.ts";
import { HOUR_MS } from "../../domain/durations.ts";
import { overloaded } from "../../domain/overloaded.ts";
import { NO_RATE_DEFAULTS, type RateDefaults } from "../../domain/rate-limits.ts";
import type { Clock } from "../../lib/clock.ts";
import type { SqliteStore } from "../../store/sqlite.ts";
import { findBalance } from "../balance.ts";
import { BooksWatch } from "../books-watch.ts";
import { GroupCommit } from "../commit/group-commit.ts";
import { decide, type MoneyOperation, type MoneyOutcome } from "../decide/decide.ts";
import type { DecidedAdmission } from "../decide/admission.ts";
import { decideKey } from "../decide/key.ts";
import type {
  AdmissionDecision,
  Changing,
  CheckpointOutcome,
  EndedByHand,
  Ledger,
  ResolveOutcome,
  ReversalOutcome,
  TopUpOutcome,
  Transactions,
  Work,
} from "../ledger.ts";
import { Changed, decisionRank, type Operation, type Outcome, survives } from "../commit/operations.ts";
import { Pulse } from "../commit/pulse.ts";
import { neverDispatched, type PrintInterrupted } from "../recovery.ts";
import { resolveOrphans } from "../orphans.ts";
import { countQuarantined, putInQuarantine } from "../quarantine.ts";
import { readOrphan } from "../read-orphan.ts";
import { findRateRefusal } from "../rate-now.ts";
import { mendRunning } from "../rate-running.ts";
import { replayed } from "../replay.ts";
import { Refusal } from "../../domain/refusals.ts";
import { type Jobs, jobsOnStderr } from "../../lib/jobs.ts";
import type { UnreadableRecord } from "../unreadable.ts";
import { oneAtATime } from "../verify/one-at-a-time.ts";
import { SteadyClock } from "../steady-clock.ts";
import { booksOfSqlite, verifySqlite } from "../verify/sqlite/verify.ts";
import { isStoreFailure } from "../../store/sqlite-error.ts";
import { SqliteCommit } from "./commit.ts";
import { keepSweeping } from "./sweep.ts";

export interface SqliteLedgerPorts {
  store: SqliteStore;
  clock: Clock;
  idempotency: { bodyRetentionMs: number; tombstoneRetentionMs: number };
  printInterrupted: PrintInterrupted;
  /** The interval between two runs of the sweeper, milliseconds. */
  sweepEveryMs?: number;
  /** The interval between two checks of the books, milliseconds. */
  booksEveryMs?: number;
  jobs?: Jobs;
  /** Defaults to no limits. */
  rateDefaults?: RateDefaults;
}

/** Before every deadline: resolves only what an earlier boot left. */
const NO_DEADLINE = 0;
/** An owner ends its request at its deadline; one that has not done so by now, and is not waiting for a commit, never will. */
const LATE_MS = 60_000;
const QUEUE = 10_000;

/** Opens the ledger. Before it resolves, requests left by a previous process are resolved. */
export async function openSqliteLedger({
  store,
  clock,
  idempotency,
  printInterrupted,
  sweepEveryMs = 5_000,
  booksEveryMs,
  jobs = jobsOnStderr(),
  rateDefaults = NO_RATE_DEFAULTS,
}: SqliteLedgerPorts): Promise<Ledger> {
  const commit = new SqliteCommit(store, clock, {
    rateDefaults,
    isStopped: (organizationId) => books.isStopped(organizationId),
    retention: {
      answerMs: idempotency.bodyRetentionMs,
      claimMs: idempotency.bodyRetentionMs + idempotency.tombstoneRetentionMs,
      answerBytes: STORED_ANSWER_BYTES_MAX,
    },
  });
  const pulse = new Pulse();
  const batches = groupCommit(commit, { store, pulse, jobs });
  const on = transactions(commit, batches, clock);
  const books = booksWatch({ commit, batches, on, pulse, jobs }, store, booksEveryMs);
  await books.refresh();
  const resolveUnowned = resolvingUnowned(
    { commit, batches, on, pulse, jobs },
    { store, clock, printInterrupted },
  );
  const deadlines = new SteadyClock(clock, HOUR_MS + LATE_MS); // no request runs for longer than an hour
  await unlessRefused(jobs, async () => {
    await resolveUnowned(NO_DEADLINE);
    await mendRunning(on);
  });
  const sweeping = keepSweeping({
    jobs,
    writer: () => store.writer,
    nowMs: () => clock.nowMs(),
    ready: () => batches.ready,
    swept: (nowMs) => pulse.swept(nowMs),
    isStoreFailure: refusedByStore,
    everyMs: sweepEveryMs,
    mendLimits: () => mendRunning(on),
    readStops: () => books.refresh(),
    resolveLate: () => resolveUnowned(deadlines.nowMs() - LATE_MS),
  });
  books.begin();
  return {
    checkKey: (credential) => {
      if (!batches.tries) throw overloaded();
      const { organizationId, keyId } = credential;
      const row = commit.connection.keys.read(organizationId, keyId);
      const known = decideKey(row, credential, clock.nowMs());
      return known.kind === "refused" ? known.refusal : known.key;
    },
    rateRefusal: (caller) => on.read((nowMs) => findRateRefusal(caller, { defaults: rateDefaults, nowMs })),
    ...moneyPath(commit, { batches, store, jobs }),
    ...on,
    // A directory has one gateway.
    leads: () => Promise.resolve(true),
    balance: (organizationId) => on.read(() => findBalance(organizationId)),
    verify: oneAtATime(() =>
      verifySqlite({ dataDirectory: store.dataDirectory, dataKey: store.dataKey, nowMs: clock.nowMs() }),
    ),
    ...books.asked(),
    ready: () => batches.ready,
    trouble: () => batches.trouble ?? "",
    pulse: () => pulse.read(batches.waiting),
    close: async () => {
      // Concurrently: a sweep may be waiting for a store that is away, which the batches give up on.
      await Promise.all([sweeping.stop(), books.stop(), batches.close()]);
    },
  };
}

/** If the store takes nothing more now, its requests stay held and the sweeper ends them later. */
async function unlessRefused(jobs: Jobs, recover: () => Promise<void>): Promise<void> {
  try {
    await recover();
  } catch (error) {
    if (!refusedByStore(error)) throw error;
    jobs.failed("ledger_recovery", error);
  }
}

const booksWatch = (
  { batches, on, pulse, jobs }: Resolving,
  { dataDirectory }: Pick<SqliteStore, "dataDirectory">,
  everyMs: number | undefined,
): BooksWatch =>
  new BooksWatch({
    on,
    look: (books, ending) => booksOfSqlite({ dataDirectory, books }, ending),
    leads: () => Promise.resolve(true),
    ready: () => batches.ready,
    pulse,
    jobs,
    everyMs,
  });

interface Resolving {
  commit: SqliteCommit;
  batches: Batches;
  on: Transactions;
  pulse: Pulse;
  jobs: Jobs;
}

/** Ends requests that no process owns any more and that were due before this instant; quarantines those that cannot be ended. */
const resolvingUnowned =
  (
    { commit, batches, on, pulse, jobs }: Resolving,
    { store, clock, printInterrupted }: Pick<SqliteLedgerPorts, "store" | "clock" | "printInterrupted">,
  ) =>
  async (deadlineBeforeMs: number): Promise<void> => {
    await resolveOrphans({
      store: {
        find: async () => commit.unowned(deadlineBeforeMs),
        read: (unowned) => on.read(() => readOrphan(unowned, store.dataKey)),
        submit: (operation) => batches.submit(operation),
        quarantine: (unowned, reason) => putInQuarantine(on, unowned, reason),
        isStoreFailure: refusedByStore,
      },
      nowMs: () => clock.nowMs(),
      printInterrupted,
      alarm: (error) => jobs.failed("ledger_recovery", error),
    });
    pulse.foundQuarantined(await countQuarantined(on));
  };

const refusedByStore = (error: unknown): boolean => isStoreFailure(error) || error instanceof Refusal;

type Batches = GroupCommit<Operation, Outcome>;

function groupCommit(
  commit: SqliteCommit,
  { store, pulse, jobs }: { store: SqliteStore; pulse: Pulse; jobs: Jobs },
): Batches {
  let used = false;
  const batches: Batches = new GroupCommit({
    open: async () => {
      if (used) commit.reopen();
      used = true;
      return commit;
    },
    errorKind: (error) => (isStoreFailure(error) ? "store" : "operation"),
    wasRefused: isStoreFailure,
    wasCutIdle: () => false,
    rank: decisionRank,
    outlives: survives,
    spool: NO_SPOOL,
    takeBack: (operation) => {
      if (operation.kind !== "admit") return;
      const { requestId, credential } = operation.admission;
      const { organizationId } = credential;
      const voiding = neverDispatched({ organizationId, requestId }, { status: 503, totalMs: 0 });
      jobs.run("ledger_take_back", () =>
        batches.submit({ kind: "void", voiding, owner: { epoch: store.epoch } }),
      );
    },
    pulse,
    jobs,
    queue: QUEUE,
  });
  return batches;
}

/** Operations that wait for this store wait in the process that owns it: there is no other place on its disk. */
const NO_SPOOL = { keep: () => {}, taken: () => {} };

interface MoneyPathPorts {
  batches: Batches;
  store: Pick<SqliteStore, "dataKey" | "epoch">;
  jobs: Jobs;
}

type MoneyPath = Pick<
  Ledger,
  "admit" | "settle" | "void" | "checkpoint" | "topUp" | "reverse" | "endByHand" | "preview"
>;

function moneyPath(commit: SqliteCommit, { batches, store, jobs }: MoneyPathPorts): MoneyPath {
  const { dataKey, epoch } = store;
  const answers = { commit, dataKey, jobs };
  const decided = <T extends MoneyOutcome>(operation: MoneyOperation): Promise<T> =>
    batches.submit(operation) as Promise<T>;
  const owner = { epoch };
  const withBytes = (decision: DecidedAdmission): AdmissionDecision => answered(decision, answers);
  return {
    admit: (admission) => decided<DecidedAdmission>({ kind: "admit", admission }).then(withBytes),
    settle: (settlement) => decided<ResolveOutcome>({ kind: "settle", settlement, owner }),
    void: (voiding) => decided<ResolveOutcome>({ kind: "void", voiding, owner }),
    checkpoint: (checkpoint) => decided<CheckpointOutcome>({ kind: "checkpoint", checkpoint, owner }),
    topUp: (topUp, actor) => decided<TopUpOutcome>({ kind: "top_up", topUp, actor }),
    reverse: (reversal, actor) => decided<ReversalOutcome>({ kind: "reverse", reversal, actor }),
    endByHand: (ending, actor) => decided<EndedByHand>({ kind: "by_hand", ending, actor }),
    preview: async (admission) => {
      const context = commit.context();
      const operations = [{ kind: "admit", admission }] as const;
      const rows = commit.connection.load.rows(operations, context.nowMs);
      const [first] = decide(rows, operations, context).decided;
      if (first?.kind !== "outcome") throw first?.error ?? new Error("a preview was not decided");
      return answered(first.outcome as DecidedAdmission, answers);
    },
  };
}

function answered(
  decision: DecidedAdmission,
  { commit, dataKey, jobs }: { commit: SqliteCommit; dataKey: Uint8Array; jobs: Jobs },
): AdmissionDecision {
  if (decision.kind !== "replay") return decision;
  const failed = (error: UnreadableRecord): void => jobs.failed("replay", error);
  return commit.connection.run(replayed(decision, { dataKey, failed }));
}

/** Reads and changes the records other than money. */
function transactions(commit: SqliteCommit, batches: Batches, clock: Clock): Transactions {
  return {
    read: async (work) => commit.connection.run(work(clock.nowMs())),
    // With one writer, all changes run one after the other anyway.
    change: async <T>(_of: Changing | null, work: Work<T>): Promise<T> => {
      const outcome = await batches.submit({ kind: "change", work });
      if (!(outcome instanceof Changed)) throw new Error("a change came back as a money operation");
      return outcome.value as T;
    },
  };
}
