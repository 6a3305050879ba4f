// The simulator's face for Gemini: `/google/v1beta/models/{m}:generateContent` and `:streamGenerateContent`, and the
// same below a Vertex project. As strict as the vendor; it thinks, signs its calls, and reports usage with every
// event.
import { randomBase62 } from "../../../lib/id.ts";
import type { SimulatedAnswer } from "../answer.ts";
import type { Asked } from "../asked.ts";
import type { Behaviour } from "../behaviour.ts";
import { documentTokens } from "../documents.ts";
import { type Face, FaceRefusal, type Heard } from "../face.ts";
import { type CallContent, type GeminiCall, isCalled, readGeminiCall } from "./body.ts";
import { geminiWhole, geminiWords } from "./print.ts";
import { requireAcceptable } from "./rules.ts";

const PATH =
  /^\/google\/(?:v1beta|v1|v1\/projects\/[^/]+\/locations\/[^/]+\/publishers\/google)\/models\/([^/:]+):(generateContent|streamGenerateContent)$/;

const STATUSES: Record<number, string> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  500: "INTERNAL",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
};

const errorBody = (status: number, message: string, code: string | null): unknown => ({
  error: { code: status, message, status: code ?? STATUSES[status] ?? "UNKNOWN" },
});

export const generateContent: Face = {
  serves: (path) => PATH.test(path),
  hear: (body, path, headers) => {
    const [, encoded = "", method] = PATH.exec(path) ?? [];
    const model = decodeURIComponent(encoded);
    if (headers["x-goog-api-key"] === undefined && headers.authorization?.startsWith("Bearer ") !== true)
      throw new FaceRefusal("Method doesn't allow unregistered callers.", { status: 403, model });
    if (body === null || typeof body !== "object") throw new FaceRefusal("Invalid JSON payload received.");
    const call = readGeminiCall(body, model);
    requireAcceptable(call, model);
    return heard(call, model, method === "streamGenerateContent");
  },
  refusal: ({ status, code, message }) => errorBody(status, message, code),
  contentType: "text/event-stream",
};

function heard(call: GeminiCall, model: string, stream: boolean): Heard {
  const head = { modelVersion: model, responseId: randomBase62(22) };
  const says = { head, model, thoughts: call.generationConfig?.thinkingConfig?.includeThoughts === true };
  const failed = errorBody(500, "the simulated model failed", null);
  return {
    asked: askedBy(call, model, stream),
    whole: (answer: SimulatedAnswer, behaviour: Behaviour) => geminiWhole(says, answer, behaviour),
    failed,
    stream: (answer, behaviour) => geminiWords(says, { answer, behaviour, failed }),
  };
}

/** Converts the call to the form from which answers are made. */
function askedBy(
  { systemInstruction, contents, tools, toolConfig, generationConfig = {} }: GeminiCall,
  model: string,
  stream: boolean,
): Asked {
  const { maxOutputTokens, candidateCount, seed, responseMimeType, responseJsonSchema } = generationConfig;
  const { responseLogprobs, logprobs } = generationConfig;
  const declared = tools?.flatMap(({ functionDeclarations }) => functionDeclarations) ?? [];
  const effort = effortOf(generationConfig.thinkingConfig);
  return {
    model,
    stream,
    messages: [
      ...(systemInstruction === undefined
        ? []
        : [{ role: "system", content: systemInstruction.parts.map(({ text }) => text).join("\n") }]),
      ...contents.map(messageOf),
    ],
    documentTokens: documentTokens(contents.flatMap(documentsIn), { model }),
    ...(maxOutputTokens !== undefined && { max_completion_tokens: maxOutputTokens }),
    ...(declared.length > 0 && {
      tools: declared.map(({ name, description, parametersJsonSchema: parameters }) => ({
        function: { name, description, parameters },
      })),
      tool_choice: choiceOf(toolConfig),
    }),
    ...(effort !== null && { reasoning_effort: effort }),
    ...(responseMimeType === "application/json" && {
      response_format:
        responseJsonSchema === undefined
          ? { type: "json_object" }
          : { type: "json_schema", json_schema: { schema: responseJsonSchema } },
    }),
    ...(candidateCount !== undefined && { n: candidateCount }),
    ...(seed !== undefined && { seed }),
    ...(responseLogprobs === true && { logprobs: true, top_logprobs: logprobs ?? 0 }),
  };
}

const documentsIn = ({ parts }: CallContent): string[] =>
  parts.flatMap((part) =>
    "inlineData" in part && part.inlineData.mimeType === "application/pdf" ? [part.inlineData.data] : [],
  );

function messageOf({ role, parts }: CallContent): Asked["messages"][number] {
  const text = parts.map((part) => ("text" in part && part.thought !== true ? part.text : "")).join("");
  const answers = parts.flatMap((part) => ("functionResponse" in part ? [part.functionResponse] : []));
  if (answers.length > 0) return { role: "tool", content: JSON.stringify(answers) };
  const calls = parts.filter(isCalled).map(({ functionCall }) => functionCall);
  return {
    role: role === "model" ? "assistant" : role,
    content: text,
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

function choiceOf(toolConfig: GeminiCall["toolConfig"]): unknown {
  const { mode, allowedFunctionNames: names = [] } = toolConfig?.functionCallingConfig ?? { mode: "AUTO" };
  if (mode === "NONE") return "none";
  if (mode !== "ANY") return "auto";
  return names.length === 1 ? { function: { name: names[0] } } : "required";
}

type Thinking = NonNullable<GeminiCall["generationConfig"]>["thinkingConfig"];

/** Returns null if the call does not configure thinking. */
function effortOf(thinking: Thinking): string | null {
  if (thinking === undefined) return null;
  const { thinkingLevel, thinkingBudget = -1 } = thinking;
  if (thinkingLevel !== undefined) return thinkingLevel.toLowerCase();
  if (thinkingBudget === 0) return "none";
  return thinkingBudget > 0 && thinkingBudget <= 1024 ? "low" : "medium";
}
