// Log probabilities of Gemini → OpenAI's, as clients get them (wire.md §2). Ids of tokens stay here: none is ever told.
import { isJsonObject } from "../../domain/read-value.ts";

interface TokenLogprob {
  token: string;
  logprob: number;
  /** Null where a token is a piece of a character, which its text does not say. */
  bytes: number[] | null;
}

const NO_CHARACTER = "\ufffd";
/** Of one answer's tokens; a list of numbers is many times their size, and no answer says more in earnest. */
const CHARACTERS_WITH_BYTES = 1_000_000;
const utf8 = new TextEncoder();

/** Of the tokens that `logprobsResult` tells of, with at most `top` alternatives each; null when it tells of none. */
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

/** A figure of zero is left out by the vendor: it was certain. */
function tokenOf(value: unknown, room: Room): TokenLogprob | null {
  if (!isJsonObject(value)) return null;
  const { token, logProbability: logprob = 0 } = value;
  if (typeof token !== "string" || !Number.isFinite(logprob)) return null;
  room.left -= token.length;
  const bytes = room.left < 0 || token.includes(NO_CHARACTER) ? null : [...utf8.encode(token)];
  return { token, logprob: Number(logprob), bytes };
}
