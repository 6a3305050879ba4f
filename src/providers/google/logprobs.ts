// Converts Gemini's log probabilities to OpenAI's, as clients get them (wire.md §2). Token ids are never passed on.
import { isJsonObject } from "../../domain/read-value.ts";

interface TokenLogprob {
  token: string;
  logprob: number;
  /** Null if the token is a piece of a character, whose bytes its text does not show. */
  bytes: number[] | null;
}

const NO_CHARACTER = "\ufffd";
/** The bound for one answer's tokens: a list of numbers is many times their size, and no real answer is longer. */
const CHARACTERS_WITH_BYTES = 1_000_000;
const utf8 = new TextEncoder();

/** Returns those of the tokens in `logprobsResult`, with at most `top` alternatives each; null if there are none. */
export function geminiLogprobs(result: unknown, top: number): object | null {
  if (!isJsonObject(result) || !Array.isArray(result["chosenCandidates"])) return null;
  const alternatives: unknown[] = Array.isArray(result["topCandidates"]) ? result["topCandidates"] : [];
  const room = { left: CHARACTERS_WITH_BYTES };
  const content = (result["chosenCandidates"] as unknown[]).flatMap((chosen, at) => {
    const told = tokenOf(chosen, room);
    return told === null ? [] : [{ ...told, top_logprobs: alternativesOf(alternatives[at], top, room) }];
  });
  return content.length === 0 ? null : { content, refusal: null };
}

interface Room {
  left: number;
}

function alternativesOf(step: unknown, top: number, room: Room): TokenLogprob[] {
  if (!isJsonObject(step) || !Array.isArray(step["candidates"])) return [];
  return (step["candidates"] as unknown[])
    .slice(0, top)
    .map((one) => tokenOf(one, room))
    .filter((told) => told !== null);
}

/** The vendor omits a figure of zero: the token was certain. */
function tokenOf(value: unknown, room: Room): TokenLogprob | null {
  if (!isJsonObject(value)) return null;
  const { token, logProbability: logprob = 0 } = value;
  if (typeof token !== "string" || !Number.isFinite(logprob)) return null;
  room.left -= token.length;
  const bytes = room.left < 0 || token.includes(NO_CHARACTER) ? null : [...utf8.encode(token)];
  return { token, logprob: Number(logprob), bytes };
}
