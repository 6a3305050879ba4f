// Which of the caller's fields were not applied (wire.md §1, actions F and I): those that are never forwarded, those that the
// upstream which serves the call does not know, those that its shape has no word for, and wishes that its model cannot have.
import type { Candidate, Hold } from "./hold.ts";

/** `x-gw-ignored-parameters` for an answer of this candidate; the first one's where none has answered yet. */
export function ignoredHeader({ admitted }: Hold, candidate: Candidate | null): Record<string, string> {
  const { request, candidates } = admitted;
  const { native, reasoning, ignored } = request;
  const { body, release } = candidate ?? candidates[0] ?? {};
  const names = [
    ...ignored,
    ...(body?.ignored ?? []),
    ...(body?.native === true ? [] : (native?.dropped ?? []).slice(0, UNKNOWN_MAX).map(fitToName)),
    ...(reasoning?.hint === true && release?.reasoning === null ? [reasoning.param] : []),
  ];
  return names.length === 0 ? {} : { "x-gw-ignored-parameters": names.join(", ") };
}

/** More are not named: a header is no place for a body's worth of names. */
const UNKNOWN_MAX = 32;

/** A name that nobody knows may hold what no header does. */
const fitToName = (name: string): string => name.replace(/[^\w.[\]-]/g, "?");
