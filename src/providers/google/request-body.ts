// Builds the body for Gemini (wire.md §8.1, §8.2): from validated fields only, printed once, with the output ceiling
// and the thinking within it last. What was measured for the quote is what is sent.
import type { ChatRequest } from "../../domain/chat-request.ts";
import type { PromptSize } from "../../domain/prompt.ts";

import type { CallDraft, OutgoingBody } from "../provider.ts";
import { unescaped } from "../unescaped.ts";
import { type Content, type GeminiConversation, geminiConversation, type GeminiPart } from "./contents.ts";
import { longestThinking, thinkingConfig } from "./thinking.ts";
import { toolFields } from "./tools.ts";

/** The optional request fields that the body has a place for. */
export const GEMINI_FIELDS = [
  ...(["top_p", "frequency_penalty", "presence_penalty", "seed"] as const),
  ...(["stream_options", "n", "response_format", "logprobs"] as const),
];

type Fields = GeminiConversation & {
  rest: Record<string, unknown>;
  generationConfig: Record<string, unknown>;
};

/**
 * Builds one upstream call without its ceiling, which the quote decides. `provider` is its name, which identifies
 * signatures.
 */
export function geminiBody(draft: CallDraft, provider: string): OutgoingBody {
  const { request, release, reasoningEffort } = draft;
  const { upstreamModel } = release;
  const fields = bodyFields(draft, provider);
  let printed: string | null = printedFields(fields);
  const longest = endOf(Number.MAX_SAFE_INTEGER, longestThinking(reasoningEffort, upstreamModel));
  const priced = request.images + request.files > 0 ? withoutInline(fields) : fields;
  const size: PromptSize = {
    bytes: Buffer.byteLength(priced === fields ? printed : printedFields(priced)) + longest.length,
    messages: request.messages.length,
    tools: request.tools.length,
    images: request.images,
    files: request.files,
  };
  return {
    size,
    text: () => plainText(priced),
    ignored: [...Object.keys(request.forwarded), ...Object.keys(request.identifiers)].filter(
      (name) => !KNOWN.includes(name),
    ),
    thinks: (ceiling) => thinkingConfig(reasoningEffort, upstreamModel, ceiling)?.thinkingBudget !== 0,
    print: (ceiling) =>
      (printed ?? printedFields(fields)) +
      endOf(ceiling, thinkingConfig(reasoningEffort, upstreamModel, ceiling)),
    sent: () => {
      printed = null;
    },
  };
}

const KNOWN: readonly string[] = GEMINI_FIELDS;

/** The text up to the ceiling: the body's last object is open, and has its comma. */
function printedFields({ systemInstruction, contents, rest, generationConfig }: Fields): string {
  const text = JSON.stringify({
    ...(systemInstruction !== null && { systemInstruction }),
    contents,
    ...rest,
    generationConfig,
  }).slice(0, -2);
  return Object.keys(generationConfig).length === 0 ? text : `${text},`;
}

const endOf = (ceiling: number, thinking: object | null): string =>
  `"maxOutputTokens":${ceiling}${thinking === null ? "" : `,"thinkingConfig":${JSON.stringify(thinking)}`}}}`;

function bodyFields(draft: CallDraft, provider: string): Fields {
  const { request, release, temperature } = draft;
  return {
    ...geminiConversation(request.messages, { provider, upstreamModel: release.upstreamModel }),
    rest: request.tools.length > 0 ? toolFields(request) : {},
    generationConfig: {
      ...(temperature !== null && { temperature }),
      ...sampling(request),
      ...answerFormat(request),
    },
  };
}

function sampling({ forwarded, applied, stop, n }: ChatRequest): Record<string, unknown> {
  const { top_p, seed, presence_penalty, frequency_penalty } = forwarded;
  const { logprobs, top_logprobs } = applied;
  return {
    ...(top_p !== undefined && { topP: top_p }),
    // 32 bits there: the same seed gives the same one.
    ...(seed !== undefined && { seed: seed | 0 }),
    ...(presence_penalty !== undefined && { presencePenalty: presence_penalty }),
    ...(frequency_penalty !== undefined && { frequencyPenalty: frequency_penalty }),
    ...(stop.length > 0 && { stopSequences: stop }),
    ...(n > 1 && { candidateCount: n }),
    ...(logprobs !== undefined && { responseLogprobs: logprobs }),
    ...(top_logprobs !== undefined && { logprobs: top_logprobs }),
  };
}

function answerFormat({ responseFormat }: ChatRequest): Record<string, unknown> {
  if (responseFormat === null || responseFormat.type === "text") return {};
  const schema = responseFormat.type === "json_schema" ? responseFormat.json_schema.schema : undefined;
  return {
    responseMimeType: "application/json",
    ...(schema !== undefined && { responseJsonSchema: schema }),
  };
}

/** Inline images and files have flat maxima of their own, so their data weighs nothing; everything else about them does. */
const withoutInline = (fields: Fields): Fields => ({
  ...fields,
  contents: fields.contents.map(({ role, parts }: Content) => ({ role, parts: parts.map(withoutData) })),
});

const withoutData = (part: GeminiPart): GeminiPart =>
  "inlineData" in part ? { inlineData: { ...part.inlineData, data: "" } } : part;

/** Texts as they are; anything with a structure as its JSON text without escapes. */
function plainText({ systemInstruction, contents, rest, generationConfig }: Fields): string {
  const { stopSequences, responseJsonSchema } = generationConfig;
  const texts: string[] = [];
  for (const value of [...Object.values(rest), stopSequences, responseJsonSchema])
    if (value !== undefined) texts.push(unescaped(value));
  for (const { text } of systemInstruction?.parts ?? []) texts.push(text);
  for (const { parts } of contents)
    for (const part of parts) texts.push("text" in part ? part.text : unescaped(part));
  return texts.join("");
}
