// API keys: made (the secret leaves once, here), listed, revoked for good, edited (specification 2.3 and 3).
import type { CreatedKeyJson, CreateKey, KeyJson } from "../api/shapes/keys.ts";
import type { ListJson } from "../api/shapes/records.ts";
import type { Actor } from "../domain/actor.ts";
import { OperatorRefusal } from "../domain/operator-refusals.ts";
import { addUsd, formatUsd } from "../domain/money.ts";
import { changedMeanwhile, versionOf } from "../domain/row-version.ts";
import { mintKey } from "../registry/secret.ts";
import { LIVE_KEYS_MAX } from "../registry/key-list.ts";
import type { Transactions } from "../ledger/ledger.ts";
import { newId } from "../lib/id.ts";
import { printList, printTime, printTimeOrNull } from "../domain/print.ts";
import { readUsd } from "../domain/read.ts";
import { unknownRecord } from "../domain/unknown-record.ts";
import { changeKey, createKey, findKey, type KeyRecord, keysOf, revokeKey } from "../registry/api-keys.ts";
import { findOrganization } from "../registry/organizations.ts";

type Store = Transactions;

interface KeyChange {
  key: string;
  name?: string | undefined;
  usd?: string | null | undefined;
  version?: string | undefined;
}

export const keys = (ledger: Store) => ({
  /** The only answer that ever carries the secret. */
  async create({ org, name, scope, limit_usd }: CreateKey, actor: Actor): Promise<CreatedKeyJson> {
    const limit = limit_usd === null ? null : readUsd(limit_usd, "limit_usd");
    if ((await findOrganization(ledger, org)) === null) throw unknownRecord("organization", org, "org");
    const id = newId("key");
    const { value, prefix, digest } = mintKey({ organizationId: org, keyId: id });
    const key = { id, organizationId: org, name, prefix, digest, scope, limit };
    const record = await createKey(ledger, key, actor);
    if (record === null) throw unknownRecord("organization", org, "org");
    if (record === "too_many_keys") throw tooManyKeys();
    return { ...printKey(record), secret: value };
  },
  /** One, of whichever organization; null when there is none. */
  async find(key: string): Promise<KeyJson | null> {
    const record = await findKey(ledger, key);
    return record === null ? null : printKey(record);
  },
  /** Those that are not revoked, and those that were revoked last. */
  async list(org: string): Promise<ListJson<KeyJson>> {
    if ((await findOrganization(ledger, org)) === null) throw unknownRecord("organization", org, "org");
    return printList((await keysOf(ledger, org)).map(printKey));
  },
  async revoke(key: string, actor: Actor): Promise<KeyJson> {
    const record = await revokeKey(ledger, key, actor);
    if (record === null) throw unknownRecord("key", key, "key");
    return printKey(record);
  },
  /** Its name, its limit or both, all or nothing; what is left out stays, and without a version any is changed. */
  async change({ key, name, usd, version }: KeyChange, actor: Actor): Promise<KeyJson> {
    const limit = usd === undefined || usd === null ? usd : readUsd(usd, "usd");
    const record = await changeKey(ledger, key, { name, limit, version }, actor);
    if (record === null) throw unknownRecord("key", key, "key");
    if (record === "changed_meanwhile") throw changedMeanwhile();
    return printKey(record);
  },
});

/** What an organization is told that has as many keys as anybody manages. */
const tooManyKeys = (): OperatorRefusal =>
  new OperatorRefusal(
    "conflict",
    `The organization has ${LIVE_KEYS_MAX} keys that are not revoked. Revoke one that nobody uses, then create this one.`,
  );

function printKey(key: KeyRecord): KeyJson {
  const blocked = key.limit !== null && addUsd(key.monthSpend, key.held) >= key.limit;
  return {
    id: key.id,
    org: key.organizationId,
    name: key.name,
    scope: key.scope,
    prefix: key.prefix,
    limit_usd: key.limit === null ? null : formatUsd(key.limit),
    month: key.month,
    month_spend_usd: formatUsd(key.monthSpend),
    held_usd: formatUsd(key.held),
    status: key.revokedAtMs === null ? "active" : "revoked",
    blocked_by_limit: blocked,
    created_at: printTime(key.createdAtMs),
    last_used_at: printTimeOrNull(key.lastUsedAtMs),
    revoked_at: printTimeOrNull(key.revokedAtMs),
    version: versionOf("key", key),
  };
}
