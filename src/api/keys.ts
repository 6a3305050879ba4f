// API keys of an organization. A developer changes the keys that they made; the secret leaves once.
import { z } from "zod";
import { formatUsd, maxUsd, minUsd, type NanoUsd, parseUsd, subUsd, ZERO_USD } from "../domain/money.ts";
import { allowance } from "../domain/roles.ts";
import { notFound } from "../domain/unknown-record.ts";
import { printTime } from "../domain/print.ts";
import { keyDay, makersOf, successionOf } from "../reporting/key-makers.ts";
import { type KeyPace, keyPaces, reachesLimitOn } from "../reporting/key-pace.ts";
import { refusalsOfKey } from "../reporting/key-refusals.ts";
import { endpoint, type PersonCaller } from "./endpoint.ts";
import type { Rooms } from "./rooms.ts";
import { id, keyId, orgId } from "./shapes/fields.ts";
import {
  createdKey,
  createdKeyRecord,
  createKeyInput,
  createKeyRecordInput,
  editKeyInput,
  key,
  keyDetail,
  type KeyJson,
  keyList,
  keyRecord,
  keyRecordList,
  type KeyRow,
  limitKeyInput,
  renameKeyInput,
  replaceKeyInput,
  replaceKeyRecordInput,
  updateKeyInput,
} from "./shapes/keys.ts";
import { keyRefusals, keyRefusalsQuery } from "./shapes/refusal-causes.ts";

const oneKey = z.strictObject({ org: id, key: id });

export const keysEndpoints = [
  endpoint({
    target: "GET /app/v1/orgs/{org}/keys",
    who: "keys.see",
    input: z.strictObject({ org: id }),
    output: keyList,
    run: async ({ input: { org }, caller }, rooms) => {
      const data = await keysOf(rooms, org, caller);
      return { data, next_cursor: null, revoked: data.filter(({ state }) => state === "revoked").length };
    },
  }),
  endpoint({
    target: "POST /app/v1/orgs/{org}/keys",
    who: "keys.change",
    own: null,
    input: createKeyInput,
    output: createdKey,
    status: 201,
    audit: "key.create",
    run: async ({ input, caller }, rooms) => {
      const created = await rooms.operator.keys.create(input, caller.actor);
      return {
        ...(await keyOf(rooms, { org: input.org, key: created.id }, caller)),
        secret: created.secret,
        replaces: null,
      };
    },
  }),
  endpoint({
    target: "GET /app/v1/orgs/{org}/keys/{key}",
    who: "keys.see",
    input: oneKey,
    output: keyDetail,
    run: async ({ input, caller }, rooms) => {
      const found = await keyOf(rooms, input, caller);
      return {
        ...found,
        ...(await keyDay(rooms.reports, input.org, found.id)),
        ...(await successionOf(rooms.reports, input.org, found)),
      };
    },
  }),
  endpoint({
    target: "GET /app/v1/orgs/{org}/keys/{key}/refusals",
    who: "activity.see",
    input: keyRefusalsQuery,
    output: keyRefusals,
    run: async ({ input }, rooms) => {
      await recordOf(rooms, input);
      return await refusalsOfKey(rooms.reports, input);
    },
  }),
  endpoint({
    target: "PATCH /app/v1/orgs/{org}/keys/{key}",
    who: "keys.change",
    own: makerOf,
    input: editKeyInput,
    output: key,
    audit: "key.limit",
    run: async ({ input: { org, ...change }, caller }, rooms) => {
      const at = { org, key: change.key };
      await recordOf(rooms, at);
      await rooms.operator.keys.change(change, caller.actor);
      return await keyOf(rooms, at, caller);
    },
  }),
  endpoint({
    target: "POST /app/v1/orgs/{org}/keys/{key}/replace",
    who: "keys.change",
    own: makerOf,
    input: replaceKeyInput,
    output: createdKey,
    status: 201,
    audit: "key.create",
    run: async ({ input: { org, ...input }, caller }, rooms) => {
      await recordOf(rooms, { org, key: input.key });
      const created = await rooms.operator.keys.replace(input, caller.actor);
      return {
        ...(await keyOf(rooms, { org, key: created.id }, caller)),
        secret: created.secret,
        replaces: input.key,
      };
    },
  }),
  endpoint({
    target: "POST /app/v1/orgs/{org}/keys/{key}/pause",
    who: "keys.change",
    own: makerOf,
    input: oneKey,
    output: key,
    audit: "key.pause",
    run: async ({ input, caller }, rooms) => {
      await recordOf(rooms, input);
      await rooms.operator.keys.pause(input.key, caller.actor);
      return await keyOf(rooms, input, caller);
    },
  }),
  endpoint({
    target: "POST /app/v1/orgs/{org}/keys/{key}/resume",
    who: "keys.change",
    own: makerOf,
    input: oneKey,
    output: key,
    audit: "key.resume",
    run: async ({ input, caller }, rooms) => {
      await recordOf(rooms, input);
      await rooms.operator.keys.resume(input.key, caller.actor);
      return await keyOf(rooms, input, caller);
    },
  }),
  endpoint({
    target: "POST /app/v1/orgs/{org}/keys/{key}/revoke",
    who: "keys.change",
    own: makerOf,
    input: oneKey,
    output: key,
    audit: "key.revoke",
    run: async ({ input, caller }, rooms) => {
      await recordOf(rooms, input);
      await rooms.operator.keys.revoke(input.key, caller.actor);
      return await keyOf(rooms, input, caller);
    },
  }),
  endpoint({
    target: "POST /admin/v1/keys",
    who: "keys.change",
    own: null,
    summary: "Create an API key; the answer is the only one that shows the secret",
    input: createKeyRecordInput,
    output: createdKeyRecord,
    status: 201,
    audit: "key.create",
    run: ({ input, caller }, { operator }) => operator.keys.create(input, caller.actor),
  }),
  endpoint({
    target: "GET /admin/v1/keys",
    who: "keys.see",
    summary: "List an organization's API keys",
    input: z.strictObject({ org: orgId }),
    output: keyRecordList,
    run: ({ input }, { operator }) => operator.keys.list(input.org),
  }),
  endpoint({
    target: "POST /admin/v1/keys/{key}/revoke",
    who: "keys.change",
    own: null,
    summary: "Revoke an API key, for good, from its very next request",
    input: z.strictObject({ key: keyId }),
    output: keyRecord,
    audit: "key.revoke",
    run: ({ input, caller }, { operator }) => operator.keys.revoke(input.key, caller.actor),
  }),
  endpoint({
    target: "POST /admin/v1/keys/{key}/pause",
    who: "keys.change",
    own: null,
    summary: "Pause an API key, from its very next request, until it is resumed",
    input: z.strictObject({ key: keyId }),
    output: keyRecord,
    audit: "key.pause",
    run: ({ input, caller }, { operator }) => operator.keys.pause(input.key, caller.actor),
  }),
  endpoint({
    target: "POST /admin/v1/keys/{key}/resume",
    who: "keys.change",
    own: null,
    summary: "Resume a paused API key",
    input: z.strictObject({ key: keyId }),
    output: keyRecord,
    audit: "key.resume",
    run: ({ input, caller }, { operator }) => operator.keys.resume(input.key, caller.actor),
  }),
  endpoint({
    target: "POST /admin/v1/keys/{key}/replace",
    who: "keys.change",
    own: null,
    summary: "Create an API key with the settings of another one, which ends by itself after an overlap",
    input: replaceKeyRecordInput,
    output: createdKeyRecord,
    status: 201,
    audit: "key.create",
    run: ({ input, caller }, { operator }) => operator.keys.replace(input, caller.actor),
  }),
  endpoint({
    target: "POST /admin/v1/keys/{key}/update",
    who: "keys.change",
    own: null,
    summary: "Change an API key's name and what it may",
    input: updateKeyInput,
    output: keyRecord,
    audit: "key.settings",
    run: ({ input, caller }, { operator }) => operator.keys.change(input, caller.actor),
  }),
  endpoint({
    target: "POST /admin/v1/keys/{key}/rename",
    who: "keys.change",
    own: null,
    summary: "Give an API key another name",
    input: renameKeyInput,
    output: keyRecord,
    audit: "key.rename",
    run: ({ input, caller }, { operator }) => operator.keys.change(input, caller.actor),
  }),
  endpoint({
    target: "POST /admin/v1/keys/{key}/limit",
    who: "keys.change",
    own: null,
    summary: "Set or lift an API key's monthly spend limit",
    input: limitKeyInput,
    output: keyRecord,
    audit: "key.limit",
    run: ({ input: { usd, ...input }, caller }, { operator }) =>
      operator.keys.change({ ...input, limit_usd: usd }, caller.actor),
  }),
] as const;

type At = { org: string; key: string };

async function recordOf({ operator }: Rooms, { org, key: id }: At): Promise<KeyJson> {
  const found = await operator.keys.find(id);
  if (found === null || found.org !== org) throw notFound("key");
  return found;
}

async function makerOf(at: At, rooms: Rooms): Promise<string | null> {
  const { id } = await recordOf(rooms, at);
  return (await makersOf(rooms.reports.sql, [id])).get(id) ?? null;
}

/** The one key, without a look at the others. */
async function keyOf(rooms: Rooms, at: At, caller: PersonCaller): Promise<KeyRow> {
  const found = await recordOf(rooms, at);
  const makers = await makersOf(rooms.reports.sql, [found.id]);
  const maker = makers.get(found.id);
  const member = maker !== undefined && (await rooms.people.membership(at.org, maker)) !== null;
  const [shown] = await printed(
    rooms,
    { org: at.org, keys: [found], makers, members: member ? [maker] : [] },
    caller,
  );
  if (shown === undefined) throw notFound("key");
  return shown;
}

/** All keys, newest first, each with who made it and what is left. */
async function keysOf(rooms: Rooms, org: string, caller: PersonCaller): Promise<KeyRow[]> {
  const { data } = await rooms.operator.keys.list(org);
  const members = (await rooms.people.memberships({ organizationId: org })).map(({ personId }) => personId);
  const makers = await makersOf(
    rooms.reports.sql,
    data.map(({ id }) => id),
  );
  return (await printed(rooms, { org, keys: data, makers, members }, caller)).toReversed();
}

async function printed(
  rooms: Rooms,
  found: {
    org: string;
    keys: readonly KeyJson[];
    makers: ReadonlyMap<string, string>;
    members: readonly string[];
  },
  caller: PersonCaller,
): Promise<KeyRow[]> {
  const asked = [...new Set(found.makers.values())];
  const people = new Map((await rooms.people.persons(asked)).map(({ id, name }) => [id, name]));
  const members = new Set(found.members);
  const standing = await changesKeys(rooms, found.org, caller);
  const nowMs = rooms.nowMs();
  const only = found.keys.length === 1 ? (found.keys[0]?.id ?? null) : null;
  const bounded = found.keys.some(({ limit_usd }) => limit_usd !== null);
  const terms = { organizationId: found.org, only, nowMs };
  const paces = bounded ? await keyPaces(rooms.reports.sql, terms) : new Map<string, KeyPace>();
  return found.keys.map((key) => {
    const maker = found.makers.get(key.id) ?? null;
    const name = maker === null ? undefined : people.get(maker);
    const created_by =
      maker === null || name === undefined ? null : { id: maker, name, left: !members.has(maker) };
    const mine = maker === caller.signedIn.person.id;
    const changeable = standing === "all" || (standing === "own" && mine);
    return printKey(key, { created_by, changeable, nowMs, pace: paces.get(key.id) });
  });
}

/** What this person may change, whatever they came for. */
async function changesKeys(
  rooms: Rooms,
  org: string,
  { signedIn }: PersonCaller,
): Promise<"all" | "own" | null> {
  if (signedIn.person.operator) return "all";
  const membership = await rooms.people.membership(org, signedIn.person.id);
  return membership === null ? null : allowance(membership.role, "keys.change");
}

function printKey(
  key: KeyJson,
  {
    created_by,
    changeable,
    nowMs,
    pace,
  }: Pick<KeyRow, "created_by" | "changeable"> & { nowMs: number; pace: KeyPace | undefined },
): KeyRow {
  const now = new Date(nowMs);
  const month = printTime(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1));
  return {
    ...key,
    created_by,
    state: key.status === "active" && key.blocked_by_limit ? "blocked_by_limit" : key.status,
    left_usd: leftOf(key),
    resets_at: key.blocked_until ?? month,
    reaches_limit_on: key.status === "active" ? limitDay(key, pace, nowMs) : null,
    changeable,
  };
}

function limitDay(key: KeyJson, pace: KeyPace | undefined, nowMs: number): string | null {
  const [limit, monthSpend] = [key.limit_usd, key.month_spend_usd].map((text) =>
    text === null ? null : parseUsd(text),
  );
  if (limit === null || limit === undefined || monthSpend === null || monthSpend === undefined) return null;
  return reachesLimitOn({ limit, monthSpend, createdAtMs: Date.parse(key.created_at) }, pace, nowMs);
}

/** Until the first of its limits is reached. */
function leftOf(key: KeyJson): string | null {
  const month = { spent_usd: key.month_spend_usd, held_usd: key.held_usd };
  const left = [
    leftIn(key.limit_usd, month),
    leftIn(key.day_limit_usd, key.day),
    leftIn(key.week_limit_usd, key.week),
  ].filter((one) => one !== null);
  return left.length === 0 ? null : formatUsd(left.reduce(minUsd));
}

function leftIn(
  limitUsd: string | null,
  span: { spent_usd: string; held_usd: string } | null,
): NanoUsd | null {
  if (limitUsd === null || span === null) return null;
  const [limit, spent, held] = [limitUsd, span.spent_usd, span.held_usd].map(
    (text) => parseUsd(text) ?? ZERO_USD,
  );
  return maxUsd(ZERO_USD, subUsd(subUsd(limit ?? ZERO_USD, spent ?? ZERO_USD), held ?? ZERO_USD));
}
