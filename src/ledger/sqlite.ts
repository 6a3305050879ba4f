// The ledger on SQLite: one writer connection whose batches are the only way in, so there is one order of everything
// and nothing about keys, limits or credits is cached (money.md §2, §7). Free reads use the same connection.
import type { Clock } from "../lib/clock.ts";
import type { SqliteStore } from "../store/sqlite.ts";
import { Batcher } from "./batch.ts";
import { decide, type MoneyOperation } from "./decide.ts";
import type { AdmitDecision } from "./decide-admission.ts";
import { decideKey } from "./decide-key.ts";
import type {
  AdmitOutcome,
  CheckpointOutcome,
  Ledger,
  ResolveOutcome,
  ReversalOutcome,
  TopUpOutcome,
} from "./ledger.ts";
import { decisionRank, type Operation, type Outcome, survives } from "./operations.ts";
import { Pulse } from "./pulse.ts";
import { type PrintCut, resolveOrphan } from "./recovery.ts";
import { crashPoint } from "../lib/crash-point.ts";
import { auditStore } from "./sqlite-audit.ts";
import { isStoreFailure, SqliteCommit } from "./sqlite-commit.ts";
import type { SqliteConnection } from "./sqlite-connection.ts";
import { keepSweeping } from "./sqlite-sweep.ts";

export interface SqliteLedgerPorts {
  store: SqliteStore;
  clock: Clock;
  idempotency: { bodyRetentionMs: number; tombstoneRetentionMs: number };
  printCut: PrintCut;
  /** Between two runs of the sweeper, milliseconds. */
  sweepEveryMs?: number;
}

/** Before every deadline: resolves only what an earlier boot left. */
const NO_DEADLINE = 0;
/** An owner ends its request at its deadline; one that has not by then, and waits for no commit, never will. */
const LATE_MS = 60_000;
const OPERATIONS_PER_BATCH = 256;
const QUEUE = 10_000;
/** One stored result holds at most this much (money.md §8.10). */
const ANSWER_BYTES_MAX = 8 * 1024 * 1024;

/** Opens the ledger; requests that a former process left behind are resolved before it resolves. */
export async function openSqliteLedger({
  store,
  clock,
  idempotency,
  printCut,
  sweepEveryMs = 5_000,
}: SqliteLedgerPorts): Promise<Ledger> {
  const commit = new SqliteCommit(store, clock, {
    answerMs: idempotency.bodyRetentionMs,
    claimMs: idempotency.bodyRetentionMs + idempotency.tombstoneRetentionMs,
    answerBytes: ANSWER_BYTES_MAX,
  });
  const pulse = new Pulse();
  const batches = batcher(commit, pulse);
  const resolveOrphans = async (deadlineBeforeMs: number): Promise<void> => {
    for (let orphans = commit.orphans(deadlineBeforeMs); orphans.length > 0; ) {
      await Promise.all(
        orphans.map((orphan) => batches.submit(resolveOrphan(orphan, clock.nowMs(), printCut))),
      );
      crashPoint("in_sweep");
      orphans = commit.orphans(deadlineBeforeMs);
    }
  };
  await resolveOrphans(NO_DEADLINE);
  const stopSweeping = keepSweeping({
    writer: () => store.writer,
    nowMs: () => clock.nowMs(),
    ready: () => batches.ready,
    swept: (nowMs) => pulse.swept(nowMs),
    everyMs: sweepEveryMs,
    resolveLate: () => resolveOrphans(clock.nowMs() - LATE_MS),
  });
  return {
    ...moneyPath(commit, batches, store.epoch),
    ...records(commit, clock),
    ...operatorChanges(commit, batches),
    audit: () =>
      auditStore({ dataDirectory: store.dataDirectory, dataKey: store.dataKey, nowMs: clock.nowMs() }),
    ready: () => batches.ready,
    trouble: () => batches.trouble,
    pulse: () => pulse.read(batches.waiting),
    close: async () => {
      stopSweeping();
      await batches.close();
    },
  };
}

type Batches = Batcher<Operation, Outcome>;

function batcher(commit: SqliteCommit, pulse: Pulse): Batches {
  const batches: Batches = new Batcher(
    {
      commit: (operations) => commit.run(operations),
      rank: decisionRank,
      survives,
      isStoreFailure,
      pulse,
      restore: () => {
        // They are first in line, since resolutions outrank whatever waits.
        const { takes, takenBack } = commit.restore();
        for (const operation of takenBack) void batches.submit(operation);
        return takes;
      },
    },
    { operationsPerBatch: OPERATIONS_PER_BATCH, queue: QUEUE },
  );
  return batches;
}

type MoneyPath = Pick<Ledger, "admit" | "settle" | "void" | "checkpoint" | "topUp" | "reverse" | "preview">;

function moneyPath(commit: SqliteCommit, batches: Batches, epoch: number): MoneyPath {
  const decided = async <T>(operation: MoneyOperation): Promise<T> => {
    const outcome = await batches.submit(operation);
    if (outcome.of !== "money") throw new Error("a money operation came back as a change");
    return outcome.outcome as T;
  };
  const owner = (): { epoch: number; tried: number[] } => ({ epoch, tried: [] });
  return {
    admit: async (admission) => answered(commit, await decided<AdmitDecision>({ kind: "admit", admission })),
    settle: (settlement) => decided<ResolveOutcome>({ kind: "settle", settlement, owner: owner() }),
    void: (voiding) => decided<ResolveOutcome>({ kind: "void", voiding, owner: owner() }),
    checkpoint: (checkpoint) =>
      decided<CheckpointOutcome>({ kind: "checkpoint", checkpoint, owner: owner() }),
    topUp: (topUp, actor) => decided<TopUpOutcome>({ kind: "top_up", topUp, actor }),
    reverse: (reversal, actor) => decided<ReversalOutcome>({ kind: "reverse", reversal, actor }),
    preview: async (admission) => {
      const context = commit.context();
      const operations = [{ kind: "admit", admission }] as const;
      const rows = commit.connection.load.rows(operations, context.nowMs);
      const [first] = decide(rows, operations, context).decided;
      if (first?.kind !== "outcome") throw first?.error ?? new Error("a preview was not decided");
      return answered(commit, first.outcome as AdmitDecision);
    },
  };
}

/** A replay with its bytes. */
function answered(commit: SqliteCommit, decision: AdmitDecision): AdmitOutcome {
  if (decision.kind !== "replay") return decision;
  const answer = commit.connection.requests.answer(decision);
  if (answer === null) throw new Error(`the answer of ${decision.requestId} is kept but not there`);
  return { kind: "replay", answer };
}

type Records = Pick<
  Ledger,
  | "authenticate"
  | "organizations"
  | "organization"
  | "balance"
  | "keys"
  | "key"
  | "entitlements"
  | "releases"
  | "release"
  | "routes"
  | "request"
  | "usage"
  | "auditLog"
  | "authenticateManagementKey"
>;

function records(commit: SqliteCommit, clock: Clock): Records {
  const on = (): SqliteConnection => commit.connection;
  return {
    authenticate: async (credential) => {
      const { organizationId, keyId } = credential;
      const known = decideKey(on().load.keyRow(organizationId, keyId), credential);
      if (known.kind === "refused") return { kind: "refused", refusal: known.refusal };
      const key = on().keys.find(keyId, clock.nowMs());
      if (key === null) throw new Error(`key ${keyId} has a row but no record`);
      return { kind: "key", key };
    },
    organizations: async () => on().organizations.all(),
    organization: async (id) => on().organizations.find(id),
    balance: async (organizationId) => on().organizations.balance(organizationId),
    keys: async (organizationId) => on().keys.ofOrganization(organizationId, clock.nowMs()),
    key: async (keyId) => on().keys.find(keyId, clock.nowMs()),
    entitlements: async (organizationId) => on().entitlements.all(organizationId, clock.nowMs()),
    releases: async () => on().releases.newest(),
    release: async (digest) => on().releases.find(digest),
    routes: async () => on().releases.routes(),
    request: async (requestId) => on().requests.find(requestId),
    usage: async (filter) => on().requests.usage(filter),
    auditLog: async (filter) => on().auditLog(filter),
    authenticateManagementKey: async (id, digest) =>
      on().managementKeys.authenticate(id, digest, clock.nowMs()),
  };
}

type OperatorChanges = Pick<
  Ledger,
  | "createOrganization"
  | "createKey"
  | "revokeKey"
  | "changeKey"
  | "requestEntitlement"
  | "approveEntitlement"
  | "revokeEntitlement"
  | "publishRelease"
  | "setRouteDisabled"
  | "createManagementKey"
  | "revokeManagementKey"
>;

function operatorChanges(commit: SqliteCommit, batches: Batches): OperatorChanges {
  const change = async <T>(apply: (on: SqliteConnection, nowMs: number) => T): Promise<T> => {
    const outcome = await batches.submit({
      kind: "change",
      apply: (nowMs) => apply(commit.connection, nowMs),
    });
    if (outcome.of !== "change") throw new Error("a change came back as a money operation");
    return outcome.value as T;
  };
  return {
    createOrganization: (organization, actor) =>
      change((on, now) => on.organizations.create(organization, actor, now)),
    createKey: (key, actor) => change((on, now) => on.keys.create(key, actor, now)),
    revokeKey: (keyId, actor) => change((on, now) => on.keys.revoke(keyId, actor, now)),
    changeKey: (keyId, edit, actor) => change((on, now) => on.keys.edit(keyId, { ...edit, actor }, now)),
    requestEntitlement: (entitlement, actor) =>
      change((on, now) => on.entitlements.request(entitlement, actor, now)),
    approveEntitlement: (id, expiresAtMs, actor) =>
      change((on, now) => on.entitlements.approve(id, { expiresAtMs, actor }, now)),
    revokeEntitlement: (id, actor) => change((on, now) => on.entitlements.revoke(id, actor, now)),
    publishRelease: (published, actor) => change((on, now) => on.releases.publish(published, actor, now)),
    setRouteDisabled: (route, disabled, reason, actor) =>
      change((on, now) => on.releases.setDisabled(route, { disabled, reason, actor }, now)),
    createManagementKey: (key, actor) => change((on, now) => on.managementKeys.create(key, actor, now)),
    revokeManagementKey: (id, actor) => change((on, now) => on.managementKeys.revoke(id, actor, now)),
  };
}
