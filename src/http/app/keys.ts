// API keys of an organization. A developer changes the keys that they made; the secret leaves once.
import type { AppAnswer } from "../../contract/app.ts";
import { OperatorRefusal } from "../../contract/admin-refusals.ts";
import type { CreatedKeyJson, KeyJson } from "../../contract/admin.ts";
import type { Desk } from "../../contract/desk.ts";
import { formatUsd, parseUsd, ZERO_USD, maxUsd, subUsd } from "../../contract/money.ts";
import type { Operator } from "../../contract/operator.ts";
import type { People } from "../../contract/people.ts";
import { allowance, type Role } from "../../contract/roles.ts";
import { actorOf, callerOf, type Handlers, notFound, type Who } from "./call.ts";

export interface KeysPorts {
  people: Pick<People, "membership" | "memberships" | "persons">;
  desk: Pick<Desk, "keyDay" | "keyMakers">;
  operator: Pick<Operator, "keys">;
  nowMs(): number;
}

type Key = AppAnswer<"GET /orgs/{org}/keys">["data"][number];
type Created = AppAnswer<"POST /orgs/{org}/keys">;
type Routes =
  | "GET /orgs/{org}/keys"
  | "POST /orgs/{org}/keys"
  | "GET /orgs/{org}/keys/{key}"
  | "PATCH /orgs/{org}/keys/{key}"
  | "POST /orgs/{org}/keys/{key}/replace"
  | "POST /orgs/{org}/keys/{key}/revoke";

export const keysHandlers = (on: KeysPorts): Handlers<Routes> => ({
  "GET /orgs/{org}/keys": async (call) => {
    const data = await keysOf(on, call.params.org, callerOf(call));
    return { data, next_cursor: null, revoked: data.filter(({ state }) => state === "revoked").length };
  },
  "POST /orgs/{org}/keys": async (call) => {
    const created = await on.operator.keys.create({ org: call.params.org, ...call.body }, actorOf(call));
    return await printCreated(on, { created, replaces: null, who: callerOf(call) });
  },
  "GET /orgs/{org}/keys/{key}": async (call) => {
    const key = await keyOf(on, call.params, callerOf(call));
    return { ...key, ...(await on.desk.keyDay(call.params.org, key.id)) };
  },
  "PATCH /orgs/{org}/keys/{key}": async (call) => {
    const who = callerOf(call);
    const { id: key } = mayChange(await keyOf(on, call.params, who));
    const actor = actorOf(call);
    const { limit_usd: usd, ...edit } = call.body;
    await on.operator.keys.change({ key, usd, ...edit }, actor);
    return await keyOf(on, call.params, who);
  },
  "POST /orgs/{org}/keys/{key}/replace": async (call) => {
    const who = callerOf(call);
    const { id, org, name, scope, limit_usd, state } = mayChange(await keyOf(on, call.params, who));
    if (state === "revoked")
      throw new OperatorRefusal("conflict", "This key is revoked. Create a new one.", "key");
    const created = await on.operator.keys.create({ org, name, scope, limit_usd }, actorOf(call));
    return await printCreated(on, { created, replaces: id, who });
  },
  "POST /orgs/{org}/keys/{key}/revoke": async (call) => {
    const who = callerOf(call);
    mayChange(await keyOf(on, call.params, who));
    await on.operator.keys.revoke(call.params.key, actorOf(call));
    return await keyOf(on, call.params, who);
  },
});

function mayChange(key: Key): Key {
  if (key.changeable) return key;
  throw new OperatorRefusal("role_not_permitted", "Your role may change only the keys that you made.", "key");
}

async function keyOf(on: KeysPorts, { org, key }: { org: string; key: string }, who: Who): Promise<Key> {
  const found = (await keysOf(on, org, who)).find(({ id }) => id === key);
  if (found === undefined) throw notFound("key");
  return found;
}

async function printCreated(
  on: KeysPorts,
  { created, replaces, who }: { created: CreatedKeyJson; replaces: string | null; who: Who },
): Promise<Created> {
  const key = await keyOf(on, { org: created.org, key: created.id }, who);
  return { ...key, secret: created.secret, replaces };
}

/** All keys, newest first, each with who made it and what is left. */
async function keysOf(on: KeysPorts, org: string, who: Who): Promise<Key[]> {
  const { data } = await on.operator.keys.list(org);
  const makers = new Map((await on.desk.keyMakers(org)).map(({ keyId, maker }) => [keyId, maker]));
  const people = new Map(
    (await on.people.persons([...new Set([...makers.values()].filter((id) => id !== null))])).map(
      (person) => [person.id, person.name],
    ),
  );
  const members = new Set(
    (await on.people.memberships({ organizationId: org })).map(({ personId }) => personId),
  );
  const standing = await changesKeys(on, org, who);
  return data
    .map((key) => {
      const maker = makers.get(key.id) ?? null;
      const name = maker === null ? undefined : people.get(maker);
      const created_by =
        maker === null || name === undefined ? null : { id: maker, name, left: !members.has(maker) };
      const mine = maker === who.signedIn.person.id;
      return printKey(key, {
        created_by,
        changeable: standing === "all" || (standing === "own" && mine),
        nowMs: on.nowMs(),
      });
    })
    .toReversed();
}

/** What this person may change, whatever they came for. */
async function changesKeys(on: KeysPorts, org: string, { signedIn }: Who): Promise<"all" | "own" | null> {
  if (signedIn.person.operator) return "all";
  const membership = await on.people.membership(org, signedIn.person.id);
  return membership === null ? null : allowance(membership.role satisfies Role, "keys.change");
}

function printKey(
  key: KeyJson,
  { created_by, changeable, nowMs }: Pick<Key, "created_by" | "changeable"> & { nowMs: number },
): Key {
  const [spent, held] = [parseUsd(key.month_spend_usd), parseUsd(key.held_usd)];
  const limit = key.limit_usd === null ? null : parseUsd(key.limit_usd);
  const left =
    limit === null || spent === null || held === null
      ? null
      : maxUsd(ZERO_USD, subUsd(subUsd(limit, spent), held));
  const now = new Date(nowMs);
  return {
    id: key.id,
    org: key.org,
    name: key.name,
    scope: key.scope,
    prefix: key.prefix,
    limit_usd: key.limit_usd,
    month: key.month,
    month_spend_usd: key.month_spend_usd,
    held_usd: key.held_usd,
    status: key.status,
    blocked_by_limit: key.blocked_by_limit,
    created_at: key.created_at,
    last_used_at: key.last_used_at,
    revoked_at: key.revoked_at,
    version: key.version,
    created_by,
    state: key.status === "revoked" ? "revoked" : key.blocked_by_limit ? "blocked_by_limit" : "active",
    left_usd: left === null ? null : formatUsd(left),
    resets_at: new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)).toISOString(),
    changeable,
  };
}
