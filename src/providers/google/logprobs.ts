// Log probabilities of Gemini → OpenAI's, as clients get them (wire.md §2). Ids of tokens stay here: none is ever told.
import { isObject } from "../http/json.ts";

interface TokenLogprob {
  token: string;
  logprob: number;
  /** Null where a token is a piece of a character, which its text does not say. */
  bytes: number[] | null;
}

const NO_CHARACTER = "\ufffd";
const utf8 = new TextEncoder();

/** Of the tokens that `logprobsResult` tells of, with at most `top` alternatives each; null when it tells of none. */
export function geminiLogprobs(result: unknown, top: number): object | null {
  if (!isObject(result) || !Array.isArray(result["chosenCandidates"])) return null;
  const alternatives: unknown[] = Array.isArray(result["topCandidates"]) ? result["topCandidates"] : [];
  const content = (result["chosenCandidates"] as unknown[]).flatMap((chosen, at) => {
    const told = tokenOf(chosen);
    return told === null ? [] : [{ ...told, top_logprobs: alternativesOf(alternatives[at], top) }];
  });
  return content.length === 0 ? null : { content, refusal: null };
}

function alternativesOf(step: unknown, top: number): TokenLogprob[] {
  if (!isObject(step) || !Array.isArray(step["candidates"])) return [];
  return (step["candidates"] as unknown[])
    .slice(0, top)
    .map(tokenOf)
    .filter((told) => told !== null);
}

/** A figure of zero is left out by the vendor: it was certain. */
function tokenOf(value: unknown): TokenLogprob | null {
  if (!isObject(value)) return null;
  const { token, logProbability: logprob = 0 } = value;
  if (typeof token !== "string" || !Number.isFinite(logprob)) return null;
  return {
    token,
    logprob: Number(logprob),
    bytes: token.includes(NO_CHARACTER) ? null : [...utf8.encode(token)],
  };
}
