// Which of the caller's fields were not applied (wire.md §1, actions F and I): those that are never forwarded, those that the
// serving upstream does not support, those that its shape cannot express, and wishes that its model cannot fulfil.
import type { ChatRequest, ReasoningStatement } from "../domain/chat-request.ts";
import type { Candidate, Hold } from "./hold.ts";

/**
 * Returns these headers with `x-gw-ignored-parameters` for an answer of this candidate, or of the first one if none has answered
 * yet.
 */
export function ignoredHeader(
  { admitted }: Hold,
  candidate: Candidate | null,
  headers: Record<string, string>,
): Record<string, string> {
  const { request, candidates, outputCeiling } = admitted;
  const { native, ignored } = request;
  const { body } = candidate ?? candidates[0] ?? {};
  const dropped = body?.native === true ? NONE : (native?.dropped ?? NONE);
  const unread = body?.ignored ?? NONE;
  const wishes = unmetWishes(request, candidate ?? candidates[0], outputCeiling);
  if (ignored.length + unread.length + dropped.length + wishes.length === 0) return headers;
  const names = [...ignored.map(fitToName), ...unread, ...dropped.slice(0, UNKNOWN_MAX).map(fitToName)];
  names.push(...wishes);
  return { ...headers, "x-gw-ignored-parameters": [...new Set(names)].join(", ") };
}

/** The caller's settings of thinking that this model does not support, or not in this conversation or under this maximum. */
function unmetWishes(
  request: ChatRequest,
  candidate: Candidate | undefined,
  ceiling: number,
): readonly string[] {
  const { reasoning, keepThoughts } = request;
  if (candidate === undefined || (reasoning === null && !keepThoughts)) return NONE;
  const amount = reasoning === null ? null : unmetAmount(reasoning, candidate, ceiling);
  const kept = !keepThoughts || candidate.body.keepsThoughts === true ? null : "thinking.keep";
  return [amount, kept].filter((wish) => wish !== null);
}

function unmetAmount(
  reasoning: ReasoningStatement,
  { release, body }: Candidate,
  ceiling: number,
): string | null {
  if (release.reasoning === null) return reasoning.hint === true ? reasoning.param : null;
  const wanted = reasoning.kind === "effort" ? reasoning.effort !== "none" : reasoning.kind === "on";
  return (body.thinks?.(ceiling) ?? wanted) === wanted ? null : reasoning.param;
}

const NONE: readonly string[] = [];

/** More are not listed: a header is no place for a body's worth of names. */
const UNKNOWN_MAX = 32;

/** An unknown name may contain characters that a header cannot. */
const fitToName = (name: string): string => name.replace(/[^\w.[\]-]/g, "?");
