// Decides whose mistake a provider's 400 is (wire.md §8.3): the caller's if the provider names a field that the caller sent and
// that went upstream as the caller wrote it; ours for everything that this gateway added, renamed or chose.
import type { JsonObject } from "../domain/read-value.ts";
import { Refusal } from "../domain/refusals.ts";
import type { Failure } from "../providers/failure.ts";
import { placeInBody } from "./place-in-body.ts";
import type { Hold } from "./hold.ts";

/** Field names that are unmistakable anywhere; others are also plain English words, and count only when quoted or as a path. */
const UNMISTAKABLE = /^(temperature|logprobs|verbosity)$|_/;
const PATH = /^([A-Za-z_]+)((?:\[\d{1,4}\]|\.[\w-]{1,64}){0,8})/;

type Tried = Pick<Hold, "admitted" | "tried">;

interface Sent {
  /** The caller's name for a field by the provider's name for it. */
  names: ReadonlyMap<string, string>;
  /** Whether places in the outgoing body are also the caller's places. */
  places: boolean;
  /** The caller's own body, if that was sent. */
  body: JsonObject | null;
}

/** The refusal of a request that the caller has to change; null if the mistake is not provably the caller's. */
export function callersMistake({ admitted, tried }: Tried, failure: Failure): Refusal | null {
  const { param, place, words = "", unknownField = false, status = 400 } = failure.upstream;
  if (failure.reason !== "rejected" || (status !== 400 && status !== 422)) return null;
  const { format, request } = admitted;
  const { native = false, places = false } = tried?.body ?? {};
  const own = native ? (request.native?.body ?? null) : null;
  const sent: Sent = { names: format.sentFields(request), places, body: own };
  const named = own === null ? param : (place ?? param);
  const path = named === undefined ? namedIn(words, sent) : pathOf(named, sent);
  if (path === null || (unknownField && path.startsWith("max_"))) return null; // we chose its name for the maximum
  return unknownField
    ? new Refusal(
        "unsupported_parameter",
        `The provider of this model does not support ${path}. Leave it out. Nothing was charged.`,
        { param: path },
      )
    : new Refusal(
        "invalid_request",
        `The provider of this model does not accept the value of ${path}. Change it or leave it out. Nothing was charged.`,
        { param: path },
      );
}

/**
 * Accepts `body.messages.0.content` and `messages[0].content`; null if the path does not begin with a field that was sent. A field
 * of a translated body is named without its place, which is not the caller's.
 */
function pathOf(param: string, { names, places, body }: Sent): string | null {
  const [whole, field = "", within = ""] = PATH.exec(param.replace(/^(body|request|\$)\./, "")) ?? [];
  const name = names.get(field);
  if (whole === undefined || name === undefined) return null;
  if (!places || name !== field) return name;
  if (body !== null) return placeInBody(body, whole) || name;
  return name + within.replace(/\.(\d{1,4})(?=[.[]|$)/g, "[$1]");
}

/** The one field that the words name; null if they name none, several, or one that was not sent. */
function namedIn(words: string, sent: Sent): string | null {
  const quoted = [...words.matchAll(/["'`]([A-Za-z_]+(?:\[\d{1,4}\]|\.[\w-]{1,64}){0,8})["'`]/g)];
  const led = /(?:^|: )([a-z_]+(?:\[\d{1,4}\]|\.[\w-]{1,64}){0,8}): /.exec(words);
  const plain = [...words.matchAll(/\b[a-z_]+\b/g)].filter(([name]) => UNMISTAKABLE.test(name));
  const candidates = [...quoted.map(([, path]) => path), led?.[1], ...plain.map(([name]) => name)];
  const paths = candidates.flatMap((path) => pathOf(path ?? "", sent) ?? []);
  const fields = new Set(paths.map((path) => PATH.exec(path)?.[1]));
  return fields.size === 1 ? (paths.toSorted((a, b) => b.length - a.length)[0] ?? null) : null;
}
