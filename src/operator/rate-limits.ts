// Rate limits: set, removed, listed (operate.md §1).
import type { ListRateLimits, RateLimitJson, SetRateLimit } from "../api/shapes/rate-limits.ts";
import type { ListJson } from "../api/shapes/records.ts";
import type { Actor } from "../domain/actor.ts";
import { OperatorRefusal } from "../domain/operator-refusals.ts";
import { printList } from "../domain/print.ts";
import type { RateDefaults, RateLimits } from "../domain/rate-limits.ts";
import { changedMeanwhile } from "../domain/row-version.ts";
import { notFound, unknownRecord } from "../domain/unknown-record.ts";
import type { Transactions } from "../ledger/ledger.ts";
import { subjectOf } from "../ledger/rate-in-force.ts";
import { ownerOfKey } from "../registry/locked-key.ts";
import { findOrganization } from "../registry/organizations.ts";
import {
  findRateLimits,
  type RateChange,
  type RateRecord,
  rateLimitsOf,
  setRateLimits,
} from "../registry/rate-limits.ts";
import { checkReleased, type Released } from "./released-model.ts";

interface Whose {
  by: RateChange["by"];
  actor: Actor;
}

interface RateLimitsPorts {
  ledger: Transactions;
  publisher: Released;
  /** The limits that apply if no rate limit is set. */
  rateDefaults: RateDefaults;
}

export const rateLimits = ({ ledger, publisher, rateDefaults: defaults }: RateLimitsPorts) => ({
  /** Omitted limits stay unchanged; null removes a limit. */
  async set(
    { org, key, model, version, ...said }: SetRateLimit,
    { by, actor }: Whose,
  ): Promise<RateLimitJson> {
    const organizationId = await ownerOf(ledger, { org, key });
    if (model !== undefined) await checkReleased(publisher, model);
    const limits: Partial<RateLimits> = {
      ...(said.requests_per_minute !== undefined && { requestsPerMinute: said.requests_per_minute }),
      ...(said.tokens_per_minute !== undefined && { tokensPerMinute: said.tokens_per_minute }),
      ...(said.concurrent !== undefined && { concurrent: said.concurrent }),
    };
    const change = { organizationId, keyId: key ?? "", model: model ?? "", limits, by, version };
    const outcome = await setRateLimits(ledger, change, { defaults, actor });
    switch (outcome.kind) {
      case "set":
        return printed(outcome.record);
      case "unknown_organization":
        throw unknownRecord("organization", organizationId, "org");
      case "unknown_key":
        throw notFound("key");
      case "revoked_key":
        throw new OperatorRefusal(
          "conflict",
          "This key is revoked: its requests are refused whatever its limits. Name a key that is not revoked.",
          "key",
        );
      case "changed_meanwhile":
        throw changedMeanwhile();
      case "too_many":
        throw new OperatorRefusal(
          "conflict",
          "The organization has the maximum number of limits. Lift some that are not needed.",
        );
      case "above":
        throw new OperatorRefusal(
          "conflict",
          `The operator allows at most ${outcome.atMost} here. Set that or less, or ask the operator to allow more.`,
          outcome.dimension,
        );
    }
  },
  /**
   * The limits of an organization, one of its keys, or a model: first those of the subject itself, whether
   * set or not, then those set within it. Without any of the three, the limits on models for each
   * organization.
   */
  async of({ org, key, model }: ListRateLimits): Promise<ListJson<RateLimitJson>> {
    const organizationId = await ownerOf(ledger, { org, key });
    if (model !== undefined) await checkReleased(publisher, model);
    if (organizationId !== "" && (await findOrganization(ledger, organizationId)) === null)
      throw unknownRecord("organization", organizationId, "org");
    const place = { organizationId, keyId: key ?? "", model: model ?? "" };
    const set = await rateLimitsOf(ledger, { organizationId, keyId: key, model }, defaults);
    const others = set.filter((one) => one.keyId !== place.keyId || one.model !== place.model);
    if (organizationId === "" && model === undefined) return printList(others.map(printed));
    return printList([await findRateLimits(ledger, place, defaults), ...others].map(printed));
  },
  /** The limits of a model that apply to each organization separately. */
  async ofModel(model: string): Promise<RateLimitJson> {
    await checkReleased(publisher, model);
    return printed(await findRateLimits(ledger, { organizationId: "", keyId: "", model }, defaults));
  },
});

/** Empty: for each organization. */
async function ownerOf(
  ledger: Transactions,
  { org, key }: { org?: string | undefined; key?: string | undefined },
): Promise<string> {
  if (key === undefined) return org ?? "";
  const owner = await ownerOfKey(ledger, key);
  if (owner === null || (org !== undefined && owner !== org)) throw notFound("key");
  return owner;
}

const printed = ({
  organizationId,
  keyId,
  model,
  running,
  version,
  ...record
}: RateRecord): RateLimitJson => ({
  subject: subjectOf({ keyId, model }),
  org: organizationId === "" ? null : organizationId,
  key: keyId === "" ? null : keyId,
  model: model === "" ? null : model,
  set: printedLimits(record.set),
  own: printedLimits(record.own),
  in_force: printedLimits(record.inForce),
  running,
  version,
});

const printedLimits = ({
  requestsPerMinute,
  tokensPerMinute,
  concurrent,
}: RateLimits): RateLimitJson["set"] => ({
  requests_per_minute: requestsPerMinute,
  tokens_per_minute: tokensPerMinute,
  concurrent,
});
