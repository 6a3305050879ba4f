// The simulator's answers in Gemini's shape: whole bodies and the objects of a stream.
import type { Fragment, SimulatedAnswer, SimulatedChoice } from "../answer.ts";
import type { Behaviour } from "../behaviour.ts";
import type { Said, StreamWords } from "../face.ts";
import { logprobsOf, type TokenLogprob } from "../logprobs.ts";
import { completionTokensOf } from "../print.ts";
import { geminiSeal } from "./signature.ts";

export interface Says {
  head: { modelVersion: string; responseId: string };
  model: string;
  /** True if thoughts are shown, not only paid for. */
  thoughts: boolean;
}

/** Some parts of a candidate, and the tokens they add to the bill. */
interface Piece {
  /** The fragments it was made from. */
  of: readonly Fragment[];
  parts: object[];
  tokens: number;
  thoughts: number;
}

/** The last piece of a stream: empty, beside the finish. */
const END: Piece = { of: [], parts: [{ text: "" }], tokens: 0, thoughts: 0 };

const FINISHES = { stop: "STOP", length: "MAX_TOKENS", tool_calls: "STOP" } as const;

/** Thoughts and text as they come; each call whole, in one part. The first call of an answer is signed. */
function piecesOf(says: Says, { fragments, finishReason }: SimulatedChoice): Piece[] {
  const pieces: Piece[] = [];
  const calls = new Map<number, Fragment[]>();
  for (const fragment of fragments) {
    const { delta, tokens, reasoning } = fragment;
    const [called] = Array.isArray(delta["tool_calls"]) ? (delta["tool_calls"] as { index: number }[]) : [];
    if (called !== undefined) calls.set(called.index, [...(calls.get(called.index) ?? []), fragment]);
    else if (!reasoning)
      pieces.push({ of: [fragment], parts: [{ text: delta["content"] ?? "" }], tokens, thoughts: 0 });
    else
      pieces.push({
        of: [fragment],
        parts: says.thoughts ? [{ text: delta["reasoning_content"] ?? "", thought: true }] : [],
        tokens,
        thoughts: tokens,
      });
  }
  const whole = [...calls.values()].map((told, at) => callPiece(says, told, at === 0));
  return [...pieces, ...(finishReason === "length" ? [] : whole)];
}

function callPiece({ model }: Says, told: readonly Fragment[], signed: boolean): Piece {
  const deltas = told.map(({ delta }) => (delta["tool_calls"] as ToolDelta[])[0]);
  const text = deltas.map((delta) => delta?.function.arguments ?? "").join("");
  const args = JSON.parse(text === "" ? "{}" : text) as Record<string, unknown>;
  const call = { name: deltas[0]?.function.name ?? "", args };
  return {
    of: told,
    parts: [{ functionCall: call, ...(signed && { thoughtSignature: geminiSeal(model, call) }) }],
    tokens: told.reduce((sum, { tokens }) => sum + tokens, 0),
    thoughts: 0,
  };
}

interface ToolDelta {
  function: { name?: string; arguments: string };
}

/** The usage of the whole answer, or of as much of it as was generated. */
function usageMetadata(
  answer: SimulatedAnswer,
  behaviour: Behaviour,
  { tokens, thoughts }: { tokens: number; thoughts: number },
): object {
  if (behaviour.no_usage === true) return {};
  if (behaviour.usage_as_is !== undefined) return { usageMetadata: behaviour.usage_as_is };
  const prompt = behaviour.usage?.prompt_tokens ?? answer.promptTokens;
  const completion = behaviour.usage?.completion_tokens ?? tokens;
  const thought = Math.min(thoughts, completion);
  return {
    usageMetadata: {
      promptTokenCount: prompt,
      // Figures of zero are omitted.
      ...(completion > thought && { candidatesTokenCount: completion - thought }),
      ...(thought > 0 && { thoughtsTokenCount: thought }),
      totalTokenCount: prompt + completion,
      promptTokensDetails: [{ modality: "TEXT", tokenCount: prompt }],
    },
  };
}

/** Returns the body of a whole answer. */
export function geminiWhole(says: Says, answer: SimulatedAnswer, behaviour: Behaviour): unknown {
  const choices = answer.choices.map((choice) => piecesOf(says, choice));
  const thoughts = choices.flat().reduce((sum, piece) => sum + piece.thoughts, 0);
  return {
    candidates: answer.choices.map(({ finishReason }, index) => ({
      content: { role: "model", parts: joined(choices[index] ?? []) },
      finishReason: FINISHES[finishReason],
      index,
      ...logprobsResult(choices[index] ?? [], answer),
    })),
    ...usageMetadata(answer, behaviour, { tokens: completionTokensOf(answer), thoughts }),
    ...says.head,
  };
}

/** Only if they were requested, and there is text. */
function logprobsResult(pieces: readonly Piece[], { topLogprobs }: SimulatedAnswer): object {
  const told = logprobsOf(
    pieces.flatMap(({ of }) => of),
    topLogprobs,
  );
  if (told === null) return {};
  return {
    logprobsResult: {
      topCandidates: told.content.map(({ top_logprobs: top }) => ({ candidates: top.map(candidateOf) })),
      chosenCandidates: told.content.map(candidateOf),
      logProbabilitySum: told.content.reduce((sum, { logprob }) => sum + logprob, 0),
    },
  };
}

const candidateOf = ({ token, logprob, bytes }: TokenLogprob): object => ({
  token,
  tokenId: bytes.reduce((id, byte) => (id * 31 + byte) % 262_144, 7),
  logProbability: logprob,
});

/** Joins consecutive texts, which are one part of a whole answer. */
function joined(pieces: readonly Piece[]): object[] {
  const parts: { text?: string; thought?: boolean }[] = [];
  for (const part of pieces.flatMap((piece) => piece.parts as { text?: string; thought?: boolean }[])) {
    const last = parts.at(-1);
    const goesOn = last?.text !== undefined && part.text !== undefined && last.thought === part.thought;
    if (goesOn) parts[parts.length - 1] = { ...part, text: `${last.text}${part.text}` };
    else parts.push(part);
  }
  return parts;
}

interface Told {
  answer: SimulatedAnswer;
  behaviour: Behaviour;
  failed: unknown;
}

const event = (value: unknown): string => `data: ${JSON.stringify(value)}\r\n\r\n`;

/** A stream of objects that ends with its connection. */
export const geminiWords = (says: Says, { answer, behaviour, failed }: Told): StreamWords => ({
  events: events(says, answer, behaviour),
  end: "",
  error: event(failed),
  late: event({ candidates: [{ content: { role: "model", parts: [{ text: "late" }] }, index: 0 }] }),
});

function* events(says: Says, answer: SimulatedAnswer, behaviour: Behaviour): Generator<Said> {
  const perEvent = behaviour.tokens_per_chunk ?? 1;
  const sum = { tokens: 0, thoughts: 0 };
  const said = (index: number, pieces: readonly Piece[], finishReason?: string): string =>
    event({
      candidates: [
        {
          content: { role: "model", parts: pieces.flatMap(({ parts }) => parts) },
          ...(finishReason && { finishReason }),
          index,
          ...logprobsResult(pieces, answer),
        },
      ],
      ...usageMetadata(answer, behaviour, sum),
      ...says.head,
    });
  for (const [index, choice] of answer.choices.entries()) {
    const pieces = piecesOf(says, choice);
    for (let at = 0; at < pieces.length; at += perEvent) {
      const group = pieces.slice(at, at + perEvent);
      const tokens = group.reduce((all, piece) => all + piece.tokens, 0);
      sum.tokens += tokens;
      sum.thoughts += group.reduce((all, piece) => all + piece.thoughts, 0);
      yield { bytes: said(index, group), tokens };
    }
    if (behaviour.no_finish !== true)
      yield { bytes: said(index, [END], FINISHES[choice.finishReason]), tokens: 0 };
  }
}
