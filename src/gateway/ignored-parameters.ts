// Which of the caller's fields were not applied (wire.md §1, actions F and I): those that are never forwarded, and those
// that the upstream which serves the call does not know.
import type { Candidate, Hold } from "./hold.ts";

/** `x-gw-ignored-parameters` for an answer of this candidate; the first one's where none has answered yet. */
export function ignoredHeader({ admitted }: Hold, candidate: Candidate | null): Record<string, string> {
  const { request, candidates } = admitted;
  const names = [...request.ignored, ...((candidate ?? candidates[0])?.body.ignored ?? [])];
  return names.length === 0 ? {} : { "x-gw-ignored-parameters": names.join(", ") };
}
