// Keys as the dashboard shows them: one, or a page of them, each with its creator and what is left of its
// limits.
import type { z } from "zod";
import { formatUsd, maxUsd, minUsd, type NanoUsd, parseUsd, subUsd, ZERO_USD } from "../domain/money.ts";
import { PAGE_ROWS } from "../domain/page-rows.ts";
import { allowance } from "../domain/roles.ts";
import { notFound } from "../domain/unknown-record.ts";
import { printTime } from "../domain/print.ts";
import { keysFound } from "../operator/key-pages.ts";
import { makersOf, makersOfKeys } from "../reporting/key-makers.ts";
import { type KeyPace, keyPaces, reachesLimitOn } from "../reporting/key-pace.ts";
import type { PersonCaller } from "./endpoint.ts";
import type { Rooms } from "./rooms.ts";
import type { KeyJson, keyList, keyMakers, keyMakersQuery, ListedKey, keysQuery } from "./shapes/keys.ts";

export type KeyAt = { org: string; key: string };

/** Throws if the organization has no key with this id. */
export async function knownKey({ operator }: Rooms, { org, key: id }: KeyAt): Promise<KeyJson> {
  const found = await operator.keys.find(id);
  if (found === null || found.org !== org) throw notFound("key");
  return found;
}

/** One key, without reading the others. */
export async function keyRowOf(rooms: Rooms, at: KeyAt, caller: PersonCaller): Promise<ListedKey> {
  const found = await knownKey(rooms, at);
  const makers = await makersOf(rooms.reports.sql, [found.id]);
  const maker = makers.get(found.id);
  const members = await rooms.people.membersAmong(at.org, maker === undefined ? [] : [maker]);
  const [shown] = await printed(rooms, { org: at.org, keys: [found], makers, members }, caller);
  if (shown === undefined) throw notFound("key");
  return shown;
}

/** A page of keys, newest first. Throws `Refusal` for a cursor that no page returned. */
export async function keysPage(
  rooms: Rooms,
  { org, cursor, limit = PAGE_ROWS, by, ...filters }: z.output<typeof keysQuery> & { org: string },
  caller: PersonCaller,
): Promise<Pick<z.output<typeof keyList>, "data" | "next_cursor">> {
  const { reports, operator } = rooms;
  const makers =
    by === undefined || by === "" ? undefined : by === "left" ? await goneMakers(rooms, org) : [by];
  const { data: keys, next_cursor } = await keysFound({ sql: reports.sql, named: operator.keys.named }, org, {
    ...filters,
    makers,
    cursor,
    limit,
    order: "newest",
    nowMs: rooms.nowMs(),
  });
  const makersFound = await makersOf(
    reports.sql,
    keys.map(({ id }) => id),
  );
  const members = await rooms.people.membersAmong(org, [...new Set(makersFound.values())]);
  const data = await printed(rooms, { org, keys, makers: makersFound, members }, caller);
  return { data, next_cursor };
}

/**
 * One person may have created thousands of keys, and thousands of people one each: those with the most live
 * ones are listed.
 */
const MAKERS_NAMED = 200;

/** People who created keys of the organization and match the search. */
export async function keyMakersOf(
  rooms: Rooms,
  { org, search = "" }: z.output<typeof keyMakersQuery> & { org: string },
): Promise<z.output<typeof keyMakers>> {
  const { makers, members } = await makersAndMembers(rooms, org);
  const orphans = makers.reduce((sum, { maker, active }) => sum + (members.has(maker) ? 0 : active), 0);
  const wanted = search.toLowerCase();
  const isNamed = ({ maker, name, email }: (typeof makers)[number]): boolean =>
    maker === search || [name, email].some((text) => text.toLowerCase().includes(wanted));
  const named = makers.filter(isNamed).toSorted((a, b) => b.live - a.live || (a.maker < b.maker ? -1 : 1));
  const data = named
    .slice(0, MAKERS_NAMED)
    .map(({ maker: id, name, live: keys }) => ({ id, name, left: !members.has(id), keys }));
  return { data, next_cursor: null, orphans };
}

const goneMakers = async (rooms: Rooms, org: string): Promise<string[]> => {
  const { makers, members } = await makersAndMembers(rooms, org);
  return makers.map(({ maker }) => maker).filter((id) => !members.has(id));
};

/** The creators that are people, and which of them belong to the organization. */
async function makersAndMembers(rooms: Rooms, org: string) {
  const all = await makersOfKeys(rooms.reports, org);
  const ids = all.map(({ maker }) => maker);
  const people = new Map((await rooms.people.persons(ids)).map((person) => [person.id, person]));
  const makers = all.flatMap((one) => {
    const person = people.get(one.maker);
    return person === undefined ? [] : [{ ...one, name: person.name, email: person.email }];
  });
  return { makers, members: await rooms.people.membersAmong(org, [...people.keys()]) };
}

async function printed(
  rooms: Rooms,
  found: {
    org: string;
    keys: readonly KeyJson[];
    makers: ReadonlyMap<string, string>;
    members: ReadonlySet<string>;
  },
  caller: PersonCaller,
): Promise<ListedKey[]> {
  const asked = [...new Set(found.makers.values())];
  const people = new Map((await rooms.people.persons(asked)).map(({ id, name }) => [id, name]));
  const standing = await changesKeys(rooms, found.org, caller);
  const nowMs = rooms.nowMs();
  const ids = found.keys.flatMap(({ id, limit_usd }) => (limit_usd === null ? [] : id));
  const paces = await keyPaces(rooms.reports.sql, { organizationId: found.org, ids, nowMs });
  return found.keys.map((key) => {
    const maker = found.makers.get(key.id) ?? null;
    const name = maker === null ? undefined : people.get(maker);
    const created_by =
      maker === null || name === undefined ? null : { id: maker, name, left: !found.members.has(maker) };
    const mine = maker === caller.signedIn.person.id;
    const changeable = standing === "all" || (standing === "own" && mine);
    return printKey(key, { created_by, changeable, nowMs, pace: paces.get(key.id) });
  });
}

/** What this person may change, regardless of the current call. */
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
  }: Pick<ListedKey, "created_by" | "changeable"> & { nowMs: number; pace: KeyPace | undefined },
): ListedKey {
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

/** What is left until the first of its limits is reached. */
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
