// Writes what a batch decided: each row once, every money update conditional on what was read (money.md §5, §11).
// Runs inside the batch's transaction; a row that is not as it was read rolls the batch back.
import type { Database, SQLQueryBindings, Statement } from "bun:sqlite";
import { sealAnswer, sealChunk } from "../answer-vault.ts";
import type { BalanceRow, Changes, ClosedRow, EntryRow, OpenedRow } from "../rows.ts";
import { appendAuditLine } from "../../store/audit-log.ts";
import { runOnSqlite } from "../../store/sqlite-sql.ts";

type Writing = Statement<unknown, SQLQueryBindings[]>;

const flag = (value: boolean): number => (value ? 1 : 0);

export class SqliteWrite {
  private readonly statements: ReturnType<typeof prepareAll>;

  constructor(
    private readonly database: Database,
    private readonly dataKey: Uint8Array,
  ) {
    this.statements = prepareAll(database);
  }

  write(changes: Changes): void {
    for (const row of changes.claimsFreed) {
      this.statements.freeClaim.run(row.organizationId, row.keyId, row.idempotencyKey, row.requestId);
    }
    for (const row of changes.checkpoints) this.noteProgress(row);
    for (const row of changes.lowered) this.lowerHold(row);
    for (const row of changes.closed) this.closeRequest(row);
    for (const row of changes.chunksDropped)
      this.statements.dropChunks.run(row.organizationId, row.requestId);
    for (const row of changes.opened) this.openRequest(row);
    for (const row of changes.claimsTaken) {
      const { organizationId, keyId, idempotencyKey, fingerprint, requestId, expiresAtMs } = row;
      this.statements.takeClaim.run(
        organizationId,
        keyId,
        idempotencyKey,
        fingerprint,
        requestId,
        expiresAtMs,
      );
    }
    for (const { organizationId, answer, expiresAtMs } of changes.answers) {
      const sealed = sealAnswer(this.dataKey, organizationId, answer);
      this.statements.keepAnswer.run(organizationId, answer.requestId, sealed, expiresAtMs);
    }
    this.writeSums(changes);
    for (const row of changes.entries) this.appendEntry(row);
    for (const { row, versionRead } of changes.balances) this.updateBalance(row, versionRead);
    this.writeTopUps(changes);
  }

  private writeSums(changes: Changes): void {
    for (const row of changes.keyMonths) {
      const { organizationId, keyId, month, held, spent, lastAdmittedAtMs } = row;
      this.statements.keyMonth.run(organizationId, keyId, month, held, spent, lastAdmittedAtMs);
    }
    for (const row of changes.usageHours.values()) {
      const { organizationId, keyId, model, hour, requests } = row;
      const { inputTokens, cachedTokens, outputTokens, charge } = row;
      this.statements.usageHour.run(
        organizationId,
        keyId,
        model,
        hour,
        requests,
        inputTokens,
        cachedTokens,
        outputTokens,
        charge,
      );
    }
  }

  private writeTopUps(changes: Changes): void {
    for (const row of changes.topUps) {
      const { organizationId, source, externalId, kind, amount, balanceAfter, txn, atMs } = row;
      this.statements.topUp.run(organizationId, source, externalId, kind, amount, balanceAfter, txn, atMs);
    }
    for (const row of changes.reversals) {
      const { organizationId, source, externalId, kind, target, amount, txn, atMs } = row;
      const after = [row.balanceAfter, row.debtAfter] as const;
      this.statements.reversal.run(
        organizationId,
        source,
        externalId,
        kind,
        target,
        amount,
        ...after,
        txn,
        atMs,
      );
    }
    for (const { organizationId, requestId, atMs, by, reason, charge } of changes.endedByHand)
      this.statements.endByHand.run(organizationId, requestId, atMs, by, reason, charge);
    for (const line of changes.auditLines) runOnSqlite(this.database, appendAuditLine(line, line.atMs));
  }

  private noteProgress(row: Changes["checkpoints"][number]): void {
    const { organizationId, requestId, epoch, releaseDigest, promptTokens, deliveredTokens, chunk } = row;
    const attempts = JSON.stringify(row.attempts);
    this.statements.checkpoint.run(
      organizationId,
      requestId,
      epoch,
      releaseDigest,
      promptTokens,
      deliveredTokens,
      attempts,
    );
    if (chunk !== null)
      this.statements.keepChunk.run(
        organizationId,
        requestId,
        chunk.seq,
        sealChunk(this.dataKey, row, chunk),
      );
  }

  private lowerHold(row: Changes["lowered"][number]): void {
    const { changes } = this.statements.lower.run(
      row.organizationId,
      row.requestId,
      row.epoch,
      row.holdRead,
      row.hold,
      row.promptBound,
      row.amount,
      row.txn,
    );
    if (changes !== 1) throw new Error(`request ${row.requestId} changed while its hold was being lowered`);
  }

  private openRequest(row: OpenedRow): void {
    this.statements.open.run(
      row.organizationId,
      row.requestId,
      row.keyId,
      row.idempotencyKey,
      row.model,
      row.tier,
      flag(row.stream),
      row.epoch,
      row.admittedAtMs,
      row.deadlineAtMs,
      row.month,
      row.releaseDigest,
      row.hold,
      row.promptBound,
      row.outputBound,
      row.openedTxn,
    );
  }

  private closeRequest(row: ClosedRow): void {
    const { changes } = this.statements.close.run(
      row.organizationId,
      row.requestId,
      row.epoch,
      row.state,
      row.closedTxn,
      row.endedAtMs,
      row.releaseDigest,
      row.evidence,
      row.promptTokens,
      row.completionTokens,
      row.cachedTokens,
      row.reasoningTokens,
      row.charge,
      row.variance,
      flag(row.minimumApplied),
      row.status,
      row.errorCode,
      row.finishReason,
      row.firstPartMs,
      row.totalMs,
      row.attempts,
      row.answerUntilMs,
      row.claimUntilMs,
    );
    if (changes !== 1) throw new Error(`request ${row.requestId} was resolved while it was being resolved`);
  }

  private appendEntry(row: EntryRow): void {
    this.statements.entry.run(
      row.organizationId,
      row.slot,
      row.version,
      row.txn,
      row.kind,
      row.debit,
      row.credit,
      row.amount,
      row.availableBefore,
      row.availableAfter,
      row.heldBefore,
      row.heldAfter,
      row.requests,
      row.reference,
      row.atMs,
      row.prevHash,
      row.hash,
    );
  }

  private updateBalance(row: BalanceRow, versionRead: number): void {
    const { changes } = this.statements.balance.run(
      row.organizationId,
      row.available,
      row.held,
      row.debt,
      row.purchased,
      row.granted,
      row.spent,
      row.version,
      row.headHash,
      row.stampedAtMs,
      versionRead,
    );
    if (changes !== 1)
      throw new Error(`balance of ${row.organizationId} changed while it was being decided on`);
  }
}

function prepareAll(database: Database) {
  const prepare = (sql: string): Writing => database.prepare<unknown, SQLQueryBindings[]>(sql);
  return {
    open: prepare(
      `INSERT INTO request (org_id, request_id, key_id, idem_key, model, tier, stream, state, epoch, admitted_at,
         deadline_at, month, release_digest, hold, prompt_bound, output_bound, opened_txn)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'dispatched', ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)`,
    ),
    lower: prepare(
      `UPDATE request SET hold = ?5, prompt_bound = ?6, lowered = ?7, lowered_txn = ?8
       WHERE org_id = ?1 AND request_id = ?2 AND state = 'dispatched' AND epoch = ?3 AND hold = ?4
         AND lowered_txn IS NULL`,
    ),
    close: prepare(
      `UPDATE request SET state = ?4, closed_txn = ?5, ended_at = ?6, release_digest = ifnull(?7, release_digest),
         evidence = ?8, prompt_tokens = ?9, completion_tokens = ?10, cached_tokens = ?11, reasoning_tokens = ?12,
         charge = ?13, variance = ?14, minimum_applied = ?15, status = ?16, error_code = ?17, finish_reason = ?18,
         first_part_ms = ?19, total_ms = ?20, attempts = ?21, answer_until = ?22, claim_until = ?23
       WHERE org_id = ?1 AND request_id = ?2 AND state = 'dispatched' AND epoch = ?3`,
    ),
    checkpoint: prepare(
      `UPDATE request SET release_digest = ?4, prompt_tokens = ?5, delivered_tokens = ?6, attempts = ?7
       WHERE org_id = ?1 AND request_id = ?2 AND state = 'dispatched' AND epoch = ?3`,
    ),
    // A chunk whose commit was not known to be durable comes again, with what was sent since.
    keepChunk: prepare(
      `INSERT INTO stream_chunk (org_id, request_id, seq, sealed) VALUES (?1, ?2, ?3, ?4)
       ON CONFLICT (org_id, request_id, seq) DO UPDATE SET sealed = excluded.sealed`,
    ),
    dropChunks: prepare("DELETE FROM stream_chunk WHERE org_id = ?1 AND request_id = ?2"),
    takeClaim: prepare(
      `INSERT INTO claim (org_id, key_id, idem_key, fingerprint, request_id, expires_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
       ON CONFLICT (org_id, key_id, idem_key) DO UPDATE
       SET fingerprint = excluded.fingerprint, request_id = excluded.request_id, expires_at = excluded.expires_at`,
    ),
    freeClaim: prepare(
      "DELETE FROM claim WHERE org_id = ?1 AND key_id = ?2 AND idem_key = ?3 AND request_id = ?4",
    ),
    keepAnswer: prepare(
      "INSERT INTO result (org_id, request_id, sealed, expires_at) VALUES (?1, ?2, ?3, ?4)",
    ),
    keyMonth: prepare(
      `INSERT INTO key_month (org_id, key_id, month, held, spent, last_admitted_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
       ON CONFLICT (org_id, key_id, month) DO UPDATE
       SET held = excluded.held, spent = excluded.spent, last_admitted_at = excluded.last_admitted_at`,
    ),
    usageHour: prepare(
      `INSERT INTO usage_hour (org_id, key_id, model, hour, requests, input_tokens, cached_tokens, output_tokens, charge)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
       ON CONFLICT (org_id, key_id, model, hour) DO UPDATE
       SET requests = requests + excluded.requests, input_tokens = ${saturated("input_tokens")},
         cached_tokens = ${saturated("cached_tokens")}, output_tokens = ${saturated("output_tokens")},
         charge = charge + excluded.charge`,
    ),
    entry: prepare(
      `INSERT INTO ledger_entry (org_id, slot, version, txn, kind, debit, credit, amount, available_before,
         available_after, held_before, held_after, requests, reference, at, prev_hash, hash)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)`,
    ),
    balance: prepare(
      `UPDATE org_balance SET available = ?2, held = ?3, debt = ?4, purchased = ?5, granted = ?6, spent = ?7,
         version = ?8, head_hash = ?9, stamped_at = ?10
       WHERE org_id = ?1 AND slot = 0 AND version = ?11`,
    ),
    topUp: prepare(
      `INSERT INTO topup (org_id, source, external_id, kind, amount, balance_after, txn, at)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)`,
    ),
    reversal: prepare(
      `INSERT INTO reversal (org_id, source, external_id, kind, target, amount, balance_after, debt_after, txn, at)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)`,
    ),
    endByHand: prepare(
      `UPDATE quarantine SET decided_at = ?3, decided_by = ?4, decided_reason = ?5, charge = ?6
       WHERE org_id = ?1 AND request_id = ?2 AND decided_at IS NULL`,
    ),
  };
}

/** A roll-up that an older program filled to the brim with what a provider told must not keep a hold from its end. */
function saturated(column: string): string {
  return `min(${column}, 9223372036854775807 - excluded.${column}) + excluded.${column}`;
}
