// Every recorded answer parsed twice: by the provider under test, and by the vendor's package of the AI SDK as an
// independent reader. Known differences are listed here with their reasons; any other fails.
import { describe, expect, test } from "bun:test";
import { createAmazonBedrock } from "@ai-sdk/amazon-bedrock";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { type Heard, heardOverHttp, heardWhole, linesOf, readRecording, RECORDINGS } from "./recorded.ts";
import { RECORDED_SHAPES } from "./recorded-shapes.ts";

type ShapeName = keyof typeof RECORDED_SHAPES;
type Fetch = typeof globalThis.fetch;
type Model = ReturnType<ReturnType<typeof createOpenAICompatible>>;

/** The other reader of each shape, on an upstream that always answers the same. */
const READERS: Record<ShapeName, (fetch: Fetch) => Model> = {
  "chat completions": (fetch) =>
    createOpenAICompatible({ name: "x", baseURL: "http://upstream.test/v1", fetch })("m"),
  "Anthropic Messages": (fetch) => createAnthropic({ apiKey: "sk-ant-x", fetch })("claude-sonnet-4-5"),
  Gemini: (fetch) => createGoogleGenerativeAI({ apiKey: "x", fetch })("gemini-2.5-flash"),
  Converse: (fetch) => createAmazonBedrock({ region: "us-east-1", apiKey: "x", fetch })("m"),
};

/** What both read from an answer. Without ids: if a vendor sends none, each reader makes its own. */
interface Outcome {
  content: string;
  reasoning: string;
  calls: { name: string; arguments: unknown }[];
  finish: string | null;
  prompt: number | null;
  completion: number | null;
  cached: number | null;
}

const ours = ({ content, reasoning, calls, finish, usage }: Heard): Outcome => ({
  content,
  reasoning,
  calls: calls.map(({ name, arguments: text }) => ({ name, arguments: parsed(text) })),
  finish,
  prompt: usage?.promptTokens ?? null,
  completion: usage?.completionTokens ?? null,
  cached: usage?.cachedTokens ?? null,
});

const parsed = (text: string): unknown => (text === "" ? {} : JSON.parse(text));

const FINISHES: Record<string, string> = { "tool-calls": "tool_calls", "content-filter": "content_filter" };

type Streamed = Awaited<ReturnType<Model["doStream"]>>["stream"] extends ReadableStream<infer P> ? P : never;
type Whole = Awaited<ReturnType<Model["doGenerate"]>>;

async function theirsOfStream(model: Model): Promise<Outcome> {
  const outcome = nothing();
  const { stream } = await model.doStream({ prompt: PROMPT });
  for await (const part of stream as unknown as AsyncIterable<Streamed>) {
    if (part.type === "text-delta") outcome.content += part.delta;
    else if (part.type === "reasoning-delta") outcome.reasoning += part.delta;
    else if (part.type === "tool-call")
      outcome.calls.push({ name: part.toolName, arguments: parsed(part.input) });
    else if (part.type === "finish") end(outcome, part);
    else if (part.type === "error") outcome.finish = `error: ${String(part.error).slice(0, 60)}`;
  }
  return outcome;
}

async function theirsOfBody(model: Model): Promise<Outcome> {
  const outcome = nothing();
  const whole = await model.doGenerate({ prompt: PROMPT });
  for (const part of whole.content) {
    if (part.type === "text") outcome.content += part.text;
    else if (part.type === "reasoning") outcome.reasoning += part.text;
    else if (part.type === "tool-call")
      outcome.calls.push({ name: part.toolName, arguments: parsed(part.input) });
  }
  end(outcome, whole);
  return outcome;
}

const PROMPT = [{ role: "user" as const, content: [{ type: "text" as const, text: "Hi" }] }];

const nothing = (): Outcome => ({
  content: "",
  reasoning: "",
  calls: [],
  finish: null,
  prompt: null,
  completion: null,
  cached: null,
});

function end(outcome: Outcome, { finishReason, usage }: Pick<Whole, "finishReason" | "usage">): void {
  const { unified } = finishReason;
  outcome.finish = FINISHES[unified] ?? unified;
  outcome.prompt = usage.inputTokens.total ?? null;
  outcome.completion = usage.outputTokens.total ?? null;
  outcome.cached = usage.inputTokens.cacheRead ?? null;
}

interface Difference {
  field: keyof Outcome;
  ours: unknown;
  theirs: unknown;
}

/** For any answer: an unreported figure is not a zero here, because a zero is a claim that can be wrong. */
const isUntold = ({ field, ours, theirs }: Difference): boolean =>
  field === "cached" && ours === null && theirs === 0;

/** For single recordings. */
const EXPLAINED: Record<string, Difference[]> = {
  // xAI excludes its reasoning from the completion and includes it in the total: 354 = 12 + 2 + 340, and it bills all
  // of it.
  "xai/xai-text.chunks.txt": [{ field: "completion", ours: 342, theirs: 2 }],
};

const answering = (body: Buffer | string, type: string): Fetch =>
  (async () => new Response(body, { headers: { "content-type": type } })) as unknown as Fetch;

describe.skipIf(Object.keys(RECORDINGS).length === 0)("each recorded answer, parsed twice", () => {
  for (const [path, { kind, format }] of Object.entries(RECORDINGS)) {
    if (kind === "error") continue;
    for (const [name, shape] of Object.entries(RECORDED_SHAPES)) {
      if (!shape.reads(format)) continue;
      test(path, async () => {
        const reader = READERS[name as ShapeName];
        const [mine, theirs] =
          kind === "body"
            ? [
                ours(await heardWhole(shape, readRecording(path))),
                await theirsOfBody(reader(answering(readRecording(path), "application/json"))),
              ]
            : [
                ours(await heardOverHttp(shape, [shape.framed(linesOf(path), "\n")])),
                await theirsOfStream(reader(answering(shape.framed(linesOf(path), "\n"), shape.contentType))),
              ];
        const differences = (Object.keys(mine) as (keyof Outcome)[])
          .filter((field) => !Bun.deepEquals(mine[field], theirs[field]))
          .map((field): Difference => ({ field, ours: mine[field], theirs: theirs[field] }))
          .filter((difference) => !isUntold(difference));
        expect(differences).toEqual(EXPLAINED[path] ?? []);
      });
    }
  }
});
