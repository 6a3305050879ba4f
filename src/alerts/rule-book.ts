// Rules and channels of organizations, as rows. A channel's secret is stored sealed and leaves this file only
// for signing.
import type { AlertKind } from "../domain/alert-kinds.ts";
import type { NanoUsd } from "../domain/money.ts";
import { randomBase62 } from "../lib/id.ts";
import type { KeyChange } from "../ledger/answer-vault.ts";
import type { Resealed } from "../ledger/reseal.ts";
import { readable } from "../ledger/unreadable.ts";
import { overloaded } from "../domain/overloaded.ts";
import { openText, sealText } from "../lib/seal.ts";
import { dataKeyCheck } from "../store/data-key.ts";
import {
  ask,
  moneyOf,
  numberOf,
  orNull,
  type Query,
  type Sql,
  type SqlRow,
  type Statement,
  statement,
  textOf,
} from "../store/sql.ts";
import type { Channel, Condition, Rule } from "./alert.ts";

export type RuleTerms = Condition & { channels: string[]; enabled: boolean };

const WITH_FIRING = `SELECT *, EXISTS (SELECT 1 FROM alert_state WHERE alert_state.rule_id = alert_rule.rule_id) AS firing
  FROM alert_rule`;

/**
 * Statements written only together with the change of the rule or channel with this id: its line of the audit
 * log.
 */
export type Told = (id: string) => readonly Statement[];
const TOLD_NOBODY: Told = () => [];

/**
 * A gateway that slept through a change of the data key must not add a channel: nobody could open its secret.
 */
const ADDING = `INSERT INTO alert_channel (channel_id, org_id, kind, name, target, secret, created_at)
  SELECT CAST(?1 AS text), CAST(?2 AS text), CAST(?3 AS text), CAST(?4 AS text), CAST(?5 AS text), CAST(?6 AS text),
    CAST(?7 AS bigint)
  FROM store_state WHERE data_key_check = ?8`;
const ADD_CHANNEL = { sqlite: ADDING, postgresql: `${ADDING} FOR SHARE` };

export class RuleBook {
  constructor(
    private readonly sql: Sql,
    private readonly dataKey: Uint8Array,
  ) {}

  async add(
    organizationId: string,
    terms: RuleTerms,
    nowMs: number,
    told: Told = TOLD_NOBODY,
  ): Promise<Rule> {
    const id = `alr_${randomBase62(12)}`;
    const adding = statement(
      `INSERT INTO alert_rule (rule_id, org_id, kind, amount, percent, days, key_id, channels, enabled, created_at)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)`,
      id,
      organizationId,
      ...valuesOf(terms),
      nowMs,
    );
    await this.sql.ifChanged(adding, told(id));
    return { id, organizationId, ...terms, createdAtMs: nowMs, lastFiredAtMs: null, firing: false };
  }

  /**
   * Changes a rule. New terms start from silence: firing state under the old ones is cleared. Null if the
   * rule has changed since it was read, or does not exist.
   */
  async change(
    organizationId: string,
    ruleId: string,
    { from, to }: { from: RuleTerms; to: RuleTerms },
    told: Told = TOLD_NOBODY,
  ): Promise<Rule | null> {
    const changed = await this.sql.ifChanged(
      statement(
        `UPDATE alert_rule SET kind = ?3, amount = ?4, percent = ?5, days = ?6, key_id = ?7, channels = ?8, enabled = ?9
         WHERE rule_id = ?1 AND org_id = ?2 AND ${asRead(10)}`,
        ruleId,
        organizationId,
        ...valuesOf(to),
        ...valuesOf(from),
      ),
      [statement("DELETE FROM alert_state WHERE rule_id = ?1", ruleId), ...told(ruleId)],
    );
    return changed ? this.find(organizationId, ruleId) : null;
  }

  remove(organizationId: string, ruleId: string, told: Told = TOLD_NOBODY): Promise<boolean> {
    return this.sql.ifChanged(
      statement("DELETE FROM alert_rule WHERE rule_id = ?1 AND org_id = ?2", ruleId, organizationId),
      [statement("DELETE FROM alert_state WHERE rule_id = ?1", ruleId), ...told(ruleId)],
    );
  }

  async find(organizationId: string, ruleId: string): Promise<Rule | null> {
    const [row] = await this.sql.rows(
      `${WITH_FIRING} WHERE rule_id = ?1 AND org_id = ?2`,
      ruleId,
      organizationId,
    );
    return row === undefined ? null : ruleOf(row);
  }

  async ofOrganization(organizationId: string): Promise<Rule[]> {
    const rows = await this.sql.rows(
      `${WITH_FIRING} WHERE org_id = ?1 ORDER BY created_at, rule_id`,
      organizationId,
    );
    return rows.map(ruleOf);
  }

  /** Every enabled rule, grouped by organization. */
  /** A damaged row is reported and skipped: the other rules are still watched. */
  async enabled(failed: (error: unknown) => void): Promise<Rule[]> {
    const rows = await this.sql.rows(`${WITH_FIRING} WHERE enabled = 1 ORDER BY org_id, rule_id`);
    return rows.flatMap((row) => {
      try {
        return [{ ...ruleOf(row), channels: channelsIn(row) }];
      } catch (error) {
        failed(error);
        return [];
      }
    });
  }

  async addChannel(
    organizationId: string,
    /** Only signed channels have a secret. */
    channel: Pick<Channel, "kind" | "name" | "target"> & { secret: string | null },
    nowMs: number,
    told: Told = TOLD_NOBODY,
  ): Promise<Channel> {
    const id = `chn_${randomBase62(12)}`;
    const { kind, name, target, secret } = channel;
    const adding = statement(
      ADD_CHANNEL,
      id,
      organizationId,
      kind,
      name,
      target,
      secret === null ? "" : sealText(this.dataKey, id, secret),
      nowMs,
      dataKeyCheck(this.dataKey),
    );
    if (!(await this.sql.ifChanged(adding, told(id)))) throw overloaded();
    return { id, organizationId, kind, name, target, createdAtMs: nowMs };
  }

  async channels(organizationId: string): Promise<Channel[]> {
    const rows = await this.sql.rows(
      "SELECT * FROM alert_channel WHERE org_id = ?1 AND removed_at IS NULL ORDER BY created_at, channel_id",
      organizationId,
    );
    return rows.map(channelOf);
  }

  /**
   * Returns a channel; null once it was removed. Its secret, for signing, is null if there is none or it
   * cannot be opened.
   */
  async channel(
    organizationId: string,
    channelId: string,
  ): Promise<{ channel: Channel; secret: string | null } | null> {
    const [row] = await this.sql.rows(
      "SELECT * FROM alert_channel WHERE channel_id = ?1 AND org_id = ?2 AND removed_at IS NULL",
      channelId,
      organizationId,
    );
    if (row === undefined) return null;
    return { channel: channelOf(row), secret: this.secretOf(channelId, textOf(row["secret"])) };
  }

  private secretOf(channelId: string, sealed: string): string | null {
    try {
      return openText(this.dataKey, channelId, sealed);
    } catch {
      return null; // damaged, or sealed under another data key: the delivery reports it
    }
  }

  /** The row stays for the history; its secret is deleted. */
  removeChannel(
    organizationId: string,
    channelId: string,
    nowMs: number,
    told: Told = TOLD_NOBODY,
  ): Promise<boolean> {
    const removing = statement(
      "UPDATE alert_channel SET removed_at = ?3, secret = '' WHERE channel_id = ?1 AND org_id = ?2 AND removed_at IS NULL",
      channelId,
      organizationId,
      nowMs,
    );
    return this.sql.ifChanged(removing, told(channelId));
  }
}

/**
 * Reseals the secrets of channels under a new data key, in the transaction that changes it; a secret that the
 * old key does not open stays as it is.
 */
export function* resealChannels({ from, to }: KeyChange): Query<Resealed> {
  const rows = yield* ask("SELECT channel_id, secret FROM alert_channel WHERE secret <> ''");
  const done = { resealed: 0, unreadable: 0 };
  for (const row of rows) {
    const id = textOf(row["channel_id"]);
    const secret = anew(() => sealText(to, id, openText(from, id, textOf(row["secret"]))));
    if (secret === null) done.unreadable += 1;
    else {
      yield* ask("UPDATE alert_channel SET secret = ?2 WHERE channel_id = ?1", [id, secret]);
      done.resealed += 1;
    }
  }
  return done;
}

function anew(seal: () => string): string | null {
  try {
    return seal();
  } catch {
    return null;
  }
}

/**
 * SQL condition: the row still has the terms that were read. Its parameters are `valuesOf` those terms,
 * starting at `first`.
 */
export const asRead = (first: number): string =>
  `kind = ?${first} AND amount IS NOT DISTINCT FROM ?${first + 1} AND percent IS NOT DISTINCT FROM ?${first + 2}
   AND days IS NOT DISTINCT FROM ?${first + 3} AND key_id IS NOT DISTINCT FROM ?${first + 4}
   AND channels = ?${first + 5} AND enabled = ?${first + 6}`;

/** In the order of the columns in `add` and `asRead`. */
export const valuesOf = (terms: RuleTerms) =>
  [
    terms.kind,
    terms.amount,
    terms.percent,
    terms.days,
    terms.keyId,
    JSON.stringify(terms.channels),
    terms.enabled ? 1 : 0,
  ] as const;

const channelsIn = (row: SqlRow): string[] =>
  readable(`alert rule ${textOf(row["rule_id"])}`, () => JSON.parse(textOf(row["channels"])) as string[]);

/** For the alerts pages, where a damaged rule can still be seen and removed. */
function channelsShown(row: SqlRow): string[] {
  try {
    return channelsIn(row);
  } catch {
    return [];
  }
}

const ruleOf = (row: SqlRow): Rule => ({
  id: textOf(row["rule_id"]),
  organizationId: textOf(row["org_id"]),
  kind: textOf(row["kind"]) as AlertKind,
  amount: orNull<NanoUsd>(row["amount"], moneyOf),
  percent: orNull(row["percent"], numberOf),
  days: orNull(row["days"], numberOf),
  keyId: orNull(row["key_id"], textOf),
  channels: channelsShown(row),
  enabled: numberOf(row["enabled"]) === 1,
  createdAtMs: numberOf(row["created_at"]),
  lastFiredAtMs: orNull(row["last_fired_at"], numberOf),
  firing: row["firing"] === true || Number(row["firing"]) === 1,
});

const channelOf = (row: SqlRow): Channel => ({
  id: textOf(row["channel_id"]),
  organizationId: textOf(row["org_id"]),
  kind: textOf(row["kind"]) === "mail" ? "mail" : "webhook",
  name: textOf(row["name"]),
  target: textOf(row["target"]),
  createdAtMs: numberOf(row["created_at"]),
});
