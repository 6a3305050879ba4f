// One of our conversations in Gemini's form (wire.md §8.2): instructions on top, equal roles merged, the answers to a
// turn's calls in one content right after it, one per call and in their order; a call's signature on the call.
import { type ContentPart, isInlineImage, type Message, type ToolCall } from "../../domain/chat-request.ts";
import { pdfBytes } from "../../domain/inline-pdf.ts";
import { argumentsOf, CLOSING, OPENING, resultsOf } from "../turns.ts";
import { geminiModel } from "./models.ts";
import { issuerOf } from "../issuer.ts";
import { NO_SIGNATURE, returnedSignature } from "./signatures.ts";

export type GeminiPart =
  | { text: string }
  | { inlineData: { mimeType: string; data: string } }
  | { fileData: { mimeType: string; fileUri: string } }
  | { functionCall: { name: string; args: Record<string, unknown> }; thoughtSignature?: string }
  | { functionResponse: { name: string; response: Record<string, unknown> } };

export interface Content {
  role: "user" | "model";
  parts: GeminiPart[];
}

export interface GeminiConversation {
  systemInstruction: { parts: { text: string }[] } | null;
  contents: Content[];
}

/** Builds the conversation for one model of one provider; both determine whose signatures are accepted there. */
export function geminiConversation(
  messages: readonly Message[],
  to: { provider: string; upstreamModel: string },
): GeminiConversation {
  const instructions = messages.filter(isInstruction).flatMap(({ content }) => textParts(content));
  const contents = contentsOf(messages, to);
  if (contents.length === 0)
    return { systemInstruction: null, contents: [{ role: "user", parts: orOpening(instructions) }] };
  return {
    systemInstruction: instructions.length === 0 ? null : { parts: instructions },
    contents,
  };
}

const isInstruction = ({ role }: Message): boolean => role === "system" || role === "developer";
const orOpening = (parts: GeminiPart[]): GeminiPart[] => (parts.length === 0 ? [{ text: OPENING }] : parts);

function contentsOf(
  messages: readonly Message[],
  to: { provider: string; upstreamModel: string },
): Content[] {
  const contents: Content[] = [];
  const results = resultsOf(messages);
  const issuer = issuerOf(to.provider, to.upstreamModel);
  const { signed } = geminiModel(to.upstreamModel);
  for (const message of messages) {
    const { role, content, tool_calls: calls } = message;
    if (role === "user") add(contents, "user", userParts(content));
    if (role !== "assistant") continue; // tool results go after their calls, instructions on top
    const said = [...textParts(content), ...textParts(message.refusal ?? null)];
    if (calls === undefined) add(contents, "model", said);
    else {
      add(contents, "model", [...said, ...callParts(calls, { issuer, signed })]);
      contents.push({ role: "user", parts: calls.map((call) => answerPart(call, results.get(call) ?? [])) });
    }
  }
  if (contents[0]?.role === "model") contents.unshift({ role: "user", parts: [{ text: OPENING }] });
  if (contents.at(-1)?.role === "model") add(contents, "user", [{ text: CLOSING }]);
  return contents;
}

/** Merges equal roles. What the user says never joins tool results: the turn would seem to continue. */
function add(contents: Content[], role: Content["role"], parts: GeminiPart[]): void {
  if (parts.length === 0) return;
  const last = contents.at(-1);
  const [first] = last?.parts ?? [];
  if (last?.role !== role || (first !== undefined && "functionResponse" in first))
    contents.push({ role, parts });
  else for (const part of parts) last.parts.push(part);
}

function callParts(calls: readonly ToolCall[], own: { issuer: string; signed: boolean }): GeminiPart[] {
  return calls.map((call, index) => {
    const needed = own.signed && index === 0 ? NO_SIGNATURE : null;
    const signature = returnedSignature(call.extra_content, own.issuer) ?? needed;
    return {
      functionCall: { name: call.function.name, args: argumentsOf(call) },
      ...(signature !== null && { thoughtSignature: signature }),
    };
  });
}

/** The text as the tool gave it, never parsed as JSON, so that no number changes. */
function answerPart({ function: { name } }: ToolCall, answers: readonly Message[]): GeminiPart {
  const texts = answers.flatMap(({ content }) => textParts(content));
  const said = texts.map(({ text }) => text).join("\n");
  const failed = answers.some((answer) => answer.failed);
  return { functionResponse: { name, response: failed ? { error: said } : { output: said } } };
}

/** Returns the texts that are not empty, since empty ones are rejected. */
function textParts(content: Message["content"]): { text: string }[] {
  if (typeof content === "string") return content === "" ? [] : [{ text: content }];
  return (content ?? []).flatMap((part) => {
    const text = part.type === "text" ? part.text : part.type === "refusal" ? part.refusal : "";
    return text === "" ? [] : [{ text }];
  });
}

const userParts = (content: Message["content"]): GeminiPart[] =>
  Array.isArray(content) ? content.flatMap(partOf) : textParts(content);

function partOf(part: ContentPart): GeminiPart[] {
  if (part.type === "file")
    return [{ inlineData: { mimeType: "application/pdf", data: pdfBytes(part.file) } }];
  if (part.type !== "image_url") return textParts([part]);
  const { url } = part.image_url;
  if (!isInlineImage(url)) return [{ fileData: { mimeType: mimeTypeOf(url), fileUri: url } }];
  const comma = url.indexOf(",");
  const [mimeType = ""] = url.slice("data:".length, comma).split(";");
  return [{ inlineData: { mimeType: mimeType.toLowerCase(), data: url.slice(comma + 1) } }];
}

const IMAGE_TYPES: Record<string, string> = {
  png: "png",
  webp: "webp",
  gif: "gif",
  heic: "heic",
  heif: "heif",
};

/** The type by the path's extension. Some envelopes require one, and most pictures are photographs. */
function mimeTypeOf(url: string): string {
  const ending = /\.(\w{3,4})$/.exec(URL.parse(url)?.pathname ?? "")?.[1]?.toLowerCase() ?? "";
  return `image/${IMAGE_TYPES[ending] ?? "jpeg"}`;
}
