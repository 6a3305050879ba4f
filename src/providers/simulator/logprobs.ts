// Log probabilities as a provider prints them: for every token of the text, made up, and the same for the same token.
import type { Fragment } from "./answer.ts";

const ALTERNATIVES = " the a of and to in is that it for on with as was at by be this have".split(/(?= )/);
const utf8 = new TextEncoder();

export interface TokenLogprob {
  token: string;
  logprob: number;
  bytes: number[];
}

export interface Logprobs {
  content: (TokenLogprob & { top_logprobs: TokenLogprob[] })[];
  refusal: null;
}

/**
 * Returns those of the text in these fragments, with `top` alternatives each; null for calls, thoughts, and if not
 * requested.
 */
export function logprobsOf(fragments: readonly Fragment[], top: number | null): Logprobs | null {
  if (top === null) return null;
  const tokens = fragments.map(({ delta }) => delta["content"]).filter((text) => typeof text === "string");
  if (tokens.length === 0) return null;
  return {
    content: tokens.map((token) => ({ ...told(token), top_logprobs: alternatives(token, top) })),
    refusal: null,
  };
}

/** The likeliest first, the token itself among them. */
const alternatives = (token: string, top: number): TokenLogprob[] =>
  [token, ...ALTERNATIVES.filter((other) => other !== token)]
    .slice(0, top)
    .map((other, rank) => ({ ...told(other), logprob: told(token).logprob - rank }));

const told = (token: string): TokenLogprob => {
  const bytes = [...utf8.encode(token)];
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  return { token, logprob: -((sum % 97) + 1) / 100, bytes };
};
