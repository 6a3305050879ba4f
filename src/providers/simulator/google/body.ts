// The body of a `generateContent` call, as strict as the vendor: unknown fields are rejected, never ignored.
import { z } from "zod";
import { FaceRefusal } from "../face.ts";

const NAME = /^[A-Za-z_][\w.:-]{0,63}$/;
const name = z.string().regex(NAME, "Invalid function name");
const EMPTY = "empty text parameter";

const textPart = z.strictObject({
  text: z.string(),
  thought: z.boolean().optional(),
  thoughtSignature: z.string().min(1).optional(),
});
/** Calls and their answers are paired by place here, not by this id. */
const id = z.string().min(1).optional();
const functionCall = z.strictObject({
  functionCall: z.strictObject({ id, name, args: z.record(z.string(), z.unknown()).optional() }),
  thoughtSignature: z.string().min(1).optional(),
});
const functionResponse = z.strictObject({
  functionResponse: z.strictObject({ id, name, response: z.record(z.string(), z.unknown()) }),
});
const part = z.union([
  functionCall,
  functionResponse,
  textPart,
  z.strictObject({ inlineData: z.strictObject({ mimeType: z.string().min(1), data: z.base64().min(1) }) }),
  z.strictObject({ fileData: z.strictObject({ mimeType: z.string().optional(), fileUri: z.url() }) }),
]);
/** A model's content may come back with the empty text that ended one of its streams. */
const content = z
  .strictObject({ role: z.enum(["user", "model"]), parts: z.array(part).min(1) })
  .refine(
    ({ role, parts }) => role === "model" || parts.every((one) => !("text" in one) || one.text !== ""),
    EMPTY,
  );

const declaration = z.strictObject({
  name,
  description: z.string().optional(),
  parametersJsonSchema: z.record(z.string(), z.unknown()).optional(),
});

const generationConfig = z.strictObject({
  maxOutputTokens: z.int().min(1).optional(),
  temperature: z.number().min(0).max(2).optional(),
  topP: z.number().min(0).max(1).optional(),
  topK: z.number().positive().optional(),
  seed: z
    .int()
    .min(-(2 ** 31))
    .max(2 ** 31 - 1)
    .optional(),
  presencePenalty: z.number().min(-2).max(2).optional(),
  frequencyPenalty: z.number().min(-2).max(2).optional(),
  stopSequences: z.array(z.string().min(1)).max(5).optional(),
  candidateCount: z.int().min(1).max(8).optional(),
  responseLogprobs: z.boolean().optional(),
  logprobs: z.int().min(0).max(20).optional(),
  responseMimeType: z.enum(["text/plain", "application/json"]).optional(),
  responseJsonSchema: z.record(z.string(), z.unknown()).optional(),
  thinkingConfig: z
    .strictObject({
      includeThoughts: z.boolean().optional(),
      thinkingBudget: z.int().min(-1).optional(),
      thinkingLevel: z.enum(["MINIMAL", "LOW", "MEDIUM", "HIGH"]).optional(),
    })
    .optional(),
});

const schema = z.strictObject({
  systemInstruction: z
    .strictObject({ role: z.string().optional(), parts: z.array(textPart).min(1) })
    .refine(({ parts }) => parts.every((one) => one.text !== ""), EMPTY)
    .optional(),
  contents: z.array(content).min(1, "contents is not specified"),
  tools: z
    .array(z.strictObject({ functionDeclarations: z.array(declaration).min(1) }))
    .max(1)
    .optional(),
  toolConfig: z
    .strictObject({
      functionCallingConfig: z.strictObject({
        mode: z.enum(["AUTO", "ANY", "NONE", "VALIDATED"]),
        allowedFunctionNames: z.array(name).min(1).optional(),
      }),
    })
    .optional(),
  generationConfig: generationConfig.optional(),
});

export type GeminiCall = z.output<typeof schema>;
export type CallContent = z.output<typeof content>;
export type CalledPart = z.output<typeof functionCall>;

/** Throws `FaceRefusal` for a body that the vendor would not read. */
export function readGeminiCall(body: unknown, model: string): GeminiCall {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new FaceRefusal(
    `Invalid JSON payload received. ${issue?.message ?? "Unknown"} at '${issue?.path.join(".") ?? ""}'`,
    { model },
  );
}

export const isCalled = (one: CallContent["parts"][number]): one is CalledPart => "functionCall" in one;
