// API keys: made (the secret leaves once, here), listed, revoked for good, edited (specification 2.3 and 3).
import type { KeyJson } from "../contract/admin.ts";
import { addUsd, formatUsd } from "../contract/money.ts";
import type { Operator } from "../contract/operator.ts";
import { changedMeanwhile, versionOf } from "../contract/version.ts";
import { mintKey } from "../keys/secret.ts";
import type { KeyRecord, Ledger } from "../ledger/ledger.ts";
import { newId } from "../lib/id.ts";
import { printList, printTime, printTimeOrNull } from "./print.ts";
import { readUsd } from "./read.ts";
import { unknownRecord } from "./unknown-record.ts";

type Store = Pick<Ledger, "changeKey" | "createKey" | "keys" | "organization" | "revokeKey">;

export const keys = (ledger: Store): Operator["keys"] => ({
  async create({ org, name, scope, limit_usd }, actor) {
    const limit = limit_usd === null ? null : readUsd(limit_usd, "limit_usd");
    if ((await ledger.organization(org)) === null) throw unknownRecord("organization", org, "org");
    const id = newId("key");
    const { value, prefix, digest } = mintKey({ organizationId: org, keyId: id });
    const key = { id, organizationId: org, name, prefix, digest, scope, limit };
    const record = await ledger.createKey(key, actor);
    if (record === null) throw unknownRecord("organization", org, "org");
    return { ...printKey(record), secret: value };
  },
  async list(org) {
    if ((await ledger.organization(org)) === null) throw unknownRecord("organization", org, "org");
    return printList((await ledger.keys(org)).map(printKey));
  },
  async revoke(key, actor) {
    const record = await ledger.revokeKey(key, actor);
    if (record === null) throw unknownRecord("key", key, "key");
    return printKey(record);
  },
  async change({ key, name, usd, version }, actor) {
    const limit = usd === undefined || usd === null ? usd : readUsd(usd, "usd");
    const record = await ledger.changeKey(key, { name, limit, version }, actor);
    if (record === null) throw unknownRecord("key", key, "key");
    if (record === "changed_meanwhile") throw changedMeanwhile();
    return printKey(record);
  },
});

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
