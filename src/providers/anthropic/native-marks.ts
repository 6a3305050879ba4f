// Cache marks in a caller's own Messages body, wherever they are: the usual rules, applied to copies.
import type { CacheMark } from "../../domain/chat-request.ts";
import { isJsonObject } from "../../domain/read-value.ts";
import type { Release } from "../../domain/release.ts";
import { type Markable, settleMarks } from "./cache-marks.ts";

type Json = Record<string, unknown>;

/** Members that hold blocks, in the vendor's order; a tool's input or schema is data. */
const HOLDS_BLOCKS = ["tools", "system", "messages", "content", "source"] as const;

/**
 * Returns the body with only those of its marks that are priced, at most the last ones; the same body if all of them
 * stay. `scoped`: marks may have a scope at this host.
 */
export function withSettledMarks(
  body: Json,
  { price, scoped }: Pick<Release, "price"> & { scoped: boolean },
): Json {
  const marked: Json[] = [];
  for (const name of HOLDS_BLOCKS) collect(body[name], marked);
  if (isMarked(body)) marked.push(body); // the whole body's mark counts as after the last block
  if (marked.length === 0) return body;
  const places = marked.map(({ cache_control: mark }): Markable => ({ cache_control: mark as CacheMark }));
  settleMarks(places, { price });
  const settled = new Map<Json, Markable>();
  for (const [at, place] of marked.entries()) {
    const now = places[at] ?? {};
    const before = place["cache_control"];
    const ttl = isJsonObject(before) ? before["ttl"] : undefined;
    const known = scoped || !isJsonObject(before) || before["scope"] === undefined;
    const same = known && now.cache_control !== undefined && isHour(now.cache_control.ttl) === isHour(ttl);
    if (!same) settled.set(place, now);
  }
  return settled.size === 0 ? body : (rebuilt(body, settled) as Json);
}

const isHour = (ttl: unknown): boolean => ttl === "1h";
const isMarked = (value: Json): boolean =>
  value["cache_control"] !== undefined && value["cache_control"] !== null;

function collect(value: unknown, marked: Json[]): void {
  if (Array.isArray(value)) for (const one of value) collect(one, marked);
  if (!isJsonObject(value)) return;
  for (const name of HOLDS_BLOCKS) if (typeof value[name] === "object") collect(value[name], marked);
  if (isMarked(value)) marked.push(value);
}

/** Returns the same value if no mark in it changes. */
function rebuilt(value: unknown, settled: ReadonlyMap<Json, Markable>): unknown {
  if (Array.isArray(value)) {
    const list = value.map((one) => rebuilt(one, settled));
    return list.some((one, at) => one !== value[at]) ? list : value;
  }
  if (!isJsonObject(value)) return value;
  let copy = value;
  for (const name of HOLDS_BLOCKS) {
    const inner = typeof value[name] === "object" ? rebuilt(value[name], settled) : value[name];
    if (inner !== value[name]) copy = { ...copy, [name]: inner };
  }
  const now = settled.get(value);
  if (now === undefined) return copy;
  const { cache_control: _mark, ...rest } = copy;
  return { ...rest, ...now };
}
