// The simulator as Amazon Bedrock's Converse, below `/bedrock`: as strict as the vendor, with the common bill.
import type { IncomingHttpHeaders } from "node:http";
import type { Fragment, SimulatedAnswer, SimulatedChoice } from "../answer.ts";
import type { Behaviour } from "../behaviour.ts";
import { type Face, FaceRefusal, type Heard, type Said, type StreamWords } from "../face.ts";
import { completionTokensOf } from "../print.ts";
import { eventFrame, exceptionFrame } from "./frame.ts";
import { askedByConverse, converseSchema, pointsOf, requireSound } from "./request.ts";
import { simulatedSignature } from "./signature.ts";

const PATH = /^\/bedrock\/model\/([^/]+)\/converse(-stream)?$/;
const FAILED = { message: "the simulated model failed", originalStatusCode: 500 };

export const converse: Face = {
  serves: (path) => PATH.test(path),
  hear,
  refusal: ({ code, message }) => ({ ...(code !== null && { __type: code }), message }),
  contentType: "application/vnd.amazon.eventstream",
};

function hear(body: unknown, path: string, headers: IncomingHttpHeaders): Heard {
  const [, name = "", suffix] = PATH.exec(path) ?? [];
  const model = decodeURIComponent(name);
  requireProof(headers, model);
  const read = converseSchema.safeParse(body);
  if (!read.success) {
    const [issue] = read.error.issues;
    const message = `1 validation error detected: Value at '${issue?.path.join(".")}' failed to satisfy constraint: ${issue?.message}`;
    throw new FaceRefusal(message, { status: 400, code: "ValidationException", model });
  }
  requireSound(read.data, model);
  const points = pointsOf(read.data);
  return {
    asked: askedByConverse(read.data, { model, stream: suffix !== undefined }),
    whole: (answer, behaviour) => wholeOf(answer, { behaviour, points }),
    failed: FAILED,
    stream: (answer, behaviour) => streamOf(answer, { behaviour, points }),
  };
}

const SIGNED =
  /^AWS4-HMAC-SHA256 Credential=[A-Z0-9]{16,}\/(\d{8})\/[a-z0-9-]+\/bedrock\/aws4_request, SignedHeaders=[a-z0-9;-]*\bhost;[a-z0-9;-]*\bx-amz-date\b[a-z0-9;-]*, Signature=[0-9a-f]{64}$/;

/** Requires a key as bearer token, or a signature for the day in its date. */
function requireProof({ authorization = "", "x-amz-date": date }: IncomingHttpHeaders, model: string): void {
  const day = SIGNED.exec(authorization)?.[1];
  const signed =
    day !== undefined && typeof date === "string" && /^\d{8}T\d{6}Z$/.test(date) && date.startsWith(day);
  if (signed || /^Bearer \S+$/.test(authorization)) return;
  throw new FaceRefusal("The security token included in the request is invalid.", {
    status: 403,
    code: "UnrecognizedClientException",
    model,
  });
}

const STOPS = { stop: "end_turn", length: "max_tokens", tool_calls: "tool_use" } as const;

interface How {
  behaviour: Behaviour;
  /** The lifetimes of the caller's cache points. */
  points: readonly ("5m" | "1h")[];
}

/** Half of a prompt with cache points is written to the cache, except for the part that `classes.cached` says was read. */
function usageOf(answer: SimulatedAnswer, { behaviour, points }: How): unknown {
  if (behaviour.usage_as_is !== undefined) return behaviour.usage_as_is;
  const prompt = behaviour.usage?.prompt_tokens ?? answer.promptTokens;
  const outputTokens = behaviour.usage?.completion_tokens ?? completionTokensOf(answer);
  const kept = points.length === 0 ? 0 : Math.floor(prompt / 2);
  const read = Math.min(behaviour.classes?.cached ?? 0, kept);
  const [ttl = "5m"] = points;
  return {
    inputTokens: prompt - kept,
    outputTokens,
    totalTokens: prompt + outputTokens,
    cacheReadInputTokens: read,
    cacheWriteInputTokens: kept - read,
    ...(kept > read && { cacheDetails: [{ ttl, inputTokens: kept - read }] }),
    serverToolUsage: {},
  };
}

/** One fragment in this shape: the kind of its block, how the block begins, and what the fragment adds. */
interface Piece {
  kind: "text" | "reasoning" | "tool";
  /** Begins a block of its own. */
  start?: { toolUseId: string; name: string };
  text: string;
  tokens: number;
}

interface ToolDelta {
  id?: string;
  function: { name?: string; arguments: string };
}

function pieceOf({ delta, tokens }: Fragment): Piece {
  const [call] = Array.isArray(delta["tool_calls"]) ? (delta["tool_calls"] as ToolDelta[]) : [];
  if (call !== undefined) {
    const { id, function: tool } = call;
    const begins = id !== undefined && tool.name !== undefined;
    return {
      kind: "tool",
      ...(begins && { start: { toolUseId: id, name: tool.name ?? "" } }),
      text: tool.arguments,
      tokens,
    };
  }
  const thought = delta["reasoning_content"];
  if (typeof thought === "string") return { kind: "reasoning", text: thought, tokens };
  return { kind: "text", text: typeof delta["content"] === "string" ? delta["content"] : "", tokens };
}

interface Block {
  kind: Piece["kind"];
  start: Piece["start"];
  pieces: Piece[];
}

function blocksOf({ fragments }: SimulatedChoice): Block[] {
  const blocks: Block[] = [];
  for (const piece of fragments.map(pieceOf)) {
    const last = blocks.at(-1);
    if (last?.kind === piece.kind && piece.start === undefined) last.pieces.push(piece);
    else blocks.push({ kind: piece.kind, start: piece.start, pieces: [piece] });
  }
  return blocks;
}

const textIn = ({ pieces }: Block): string => pieces.map(({ text }) => text).join("");

function wholeOf(answer: SimulatedAnswer, how: How): unknown {
  const [choice] = answer.choices;
  const content = (choice === undefined ? [] : blocksOf(choice)).map((block) => {
    const text = textIn(block);
    if (block.kind === "reasoning")
      return { reasoningContent: { reasoningText: { text, signature: simulatedSignature(text) } } };
    if (block.start === undefined) return { text };
    return { toolUse: { ...block.start, input: inputOf(text) } };
  });
  return {
    output: { message: { role: "assistant", content } },
    stopReason: STOPS[choice?.finishReason ?? "stop"],
    metrics: { latencyMs: 1 },
    ...(how.behaviour.no_usage !== true && { usage: usageOf(answer, how) }),
  };
}

/** Truncated arguments become an empty object. */
function inputOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return {};
  }
}

function streamOf(answer: SimulatedAnswer, how: How): StreamWords {
  const { behaviour } = how;
  const metadata = eventFrame("metadata", { usage: usageOf(answer, how), metrics: { latencyMs: 1 } });
  const late = eventFrame("contentBlockDelta", { contentBlockIndex: 99, delta: { text: "late" } });
  return {
    events: events(answer, behaviour, metadata),
    end: behaviour.no_usage === true ? "" : metadata,
    error: exceptionFrame("modelStreamErrorException", FAILED),
    late,
  };
}

function* events(answer: SimulatedAnswer, behaviour: Behaviour, metadata: Buffer): Generator<Said> {
  const [choice] = answer.choices;
  if (choice === undefined) return;
  const plain = (type: string, payload: unknown): Said => ({ bytes: eventFrame(type, payload), tokens: 0 });
  yield plain("messageStart", { role: "assistant" });
  if (behaviour.usage_first === true) yield { bytes: metadata, tokens: 0 };
  for (const [contentBlockIndex, block] of blocksOf(choice).entries()) {
    if (block.start !== undefined)
      yield plain("contentBlockStart", { contentBlockIndex, start: { toolUse: block.start } });
    yield* deltas(contentBlockIndex, block, behaviour.tokens_per_chunk ?? 1);
    if (block.kind === "reasoning") {
      const delta = { reasoningContent: { signature: simulatedSignature(textIn(block)) } };
      yield plain("contentBlockDelta", { contentBlockIndex, delta });
    }
    yield plain("contentBlockStop", { contentBlockIndex });
  }
  if (behaviour.no_finish !== true) yield plain("messageStop", { stopReason: STOPS[choice.finishReason] });
}

function* deltas(contentBlockIndex: number, { kind, pieces }: Block, perEvent: number): Generator<Said> {
  for (let at = 0; at < pieces.length; at += perEvent) {
    const group = pieces.slice(at, at + perEvent);
    const text = group.map((piece) => piece.text).join("");
    const delta =
      kind === "tool"
        ? { toolUse: { input: text } }
        : kind === "reasoning"
          ? { reasoningContent: { text } }
          : { text };
    yield {
      bytes: eventFrame("contentBlockDelta", { contentBlockIndex, delta }),
      tokens: group.reduce((total, { tokens }) => total + tokens, 0),
    };
  }
}
