// Answers of every kind for this folder's tests, and the streams printed from them.
import fc from "fast-check";
import { NO_CLASSES } from "../../../domain/token-classes.ts";
import { Refusal } from "../../../domain/refusals.ts";
import { Failure } from "../../../providers/failure.ts";
import { NativeReader } from "../../../providers/native.ts";
import { ResponsesReader } from "../../../providers/openai/responses/responses-reader.ts";
import type { FinishReason, Part } from "../../../providers/provider.ts";
import type { AnswerFigures, AnswerPrinter, ShownPart } from "../format.ts";
import { responses } from "./responses.ts";

export const HEAD = { requestId: `req_${"a".repeat(32)}`, created: 1_700_000_000, model: "m" };
export const GATEWAY = `{"public_model":"m"}`;
const TOOLS = [
  { type: "function", name: "look" },
  { type: "custom", name: "patch" },
  { type: "namespace", name: "files", description: "", tools: [{ type: "function", name: "read" }] },
];
const ASKED = { model: "m", input: "Hi", tools: TOOLS, metadata: { a: "b" }, prompt_cache_key: "mine" };

export const printerOf = (): AnswerPrinter => responses.parse(ASKED, () => null).printer;

export const figures: AnswerFigures = {
  usage: {
    ...NO_CLASSES,
    promptTokens: 3,
    completionTokens: 4,
    reasoningTokens: 1,
    cachedTokens: 2,
    cacheWriteTokens: 5,
  } as AnswerFigures["usage"],
  gateway: GATEWAY,
};

const words = fc.oneof(
  fc.string(),
  fc.constantFrom("\u2028", "\u0085é", '"sequence_number":7,', "\n\nid: 3\n", "{", '"encrypted_content":"x"'),
);
const text = words.map((said): ShownPart => ({ type: "text", choice: 0, text: said }));
const refused = words.map((said): ShownPart => ({ type: "refusal", choice: 0, text: said }));
const thought = words.map((said): ShownPart => ({ type: "reasoning", choice: 0, text: said }));
const calling = fc.record({
  name: fc.constantFrom("look", "patch", "files__read", "unoffered"),
  extra: fc.constantFrom(undefined, { google: { thought_signature: "c2ln" } }),
});
const arguing = fc.record({ of: fc.nat(5), said: fc.oneof(words, fc.constant('{"input":"x"}')) });
const cited: ShownPart = {
  type: "annotations",
  choice: 0,
  annotations: [
    {
      type: "url_citation",
      url_citation: { start_index: 0, end_index: 1, url: "https://a.example", title: "" },
    },
  ],
};

/** Any parts in any order that readers produce: arguments come for calls that have begun, citations at the end. */
export const anything = fc
  .tuple(fc.array(fc.oneof(text, refused, thought, calling, arguing), { maxLength: 30 }), fc.boolean())
  .map(([steps, cites]) => {
    const parts: ShownPart[] = [];
    let calls = 0;
    for (const step of steps) {
      if ("type" in step) parts.push(step);
      else if ("name" in step) {
        const extraContent = step.extra && { extraContent: step.extra };
        const begun = { choice: 0, index: calls, id: `call_${calls}`, name: step.name } as const;
        parts.push({ type: "tool_call", ...begun, ...extraContent });
        calls += 1;
      } else if (calls > 0)
        parts.push({ type: "tool_arguments", choice: 0, index: step.of % calls, text: step.said });
    }
    return cites ? [...parts, cited] : parts;
  });

export const reasons = fc.constantFrom<FinishReason>("stop", "length", "tool_calls", "content_filter");

export function printedStream(
  parts: readonly ShownPart[],
  numbered: boolean,
  end: FinishReason | Refusal,
): string {
  const stream = printerOf().stream(HEAD, numbered);
  let raw = stream.begin(GATEWAY);
  for (const part of parts) raw += stream.part(part);
  return raw + (end instanceof Refusal ? stream.error(end, GATEWAY) : stream.end(0, end, figures));
}

/** The data of each event. */
export const dataIn = (raw: string): string[] =>
  raw.split("\n").flatMap((line) => (line.startsWith("data: ") ? [line.slice("data: ".length)] : []));

/** An upstream's events of this very shape, as its reader parses them; null if they are not an answer. */
export function readNative(data: readonly string[]): Part[] | null {
  const reader = new NativeReader(new ResponsesReader("issuer"));
  const parts: Part[] = [];
  try {
    for (const one of data) if (reader.event(one, parts) !== null) break;
    if (reader.complete) reader.close(parts);
    return parts;
  } catch (error) {
    if (error instanceof Failure) return null;
    throw error;
  }
}

/** The same as the relay passes it on. */
export function relayed(data: readonly string[], end: FinishReason | Refusal, numbered = false): string {
  const stream = printerOf().stream(HEAD, numbered);
  let raw = stream.begin(GATEWAY);
  for (const part of readNative(data) ?? [])
    if (part.type !== "usage" && part.type !== "finish") raw += stream.part(part);
  return raw + (end instanceof Refusal ? stream.error(end, GATEWAY) : stream.end(0, end, figures));
}
