// A Converse request as the simulator reads it, and what Bedrock would reject in it.
import { z } from "zod";
import type { Asked } from "../asked.ts";
import { documentTokens } from "../documents.ts";
import { FaceRefusal } from "../face.ts";
import { document, documentFault, converseDocuments } from "./documents.ts";
import { isSignedText } from "./signature.ts";

const text = z.strictObject({ text: z.string() });
const image = z.strictObject({
  image: z.strictObject({
    format: z.enum(["png", "jpeg", "gif", "webp"]),
    source: z.strictObject({ bytes: z.base64().min(1) }),
  }),
});
const toolUseId = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/);
const toolUse = z.strictObject({
  toolUse: z.strictObject({
    toolUseId,
    name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/),
    input: z.record(z.string(), z.unknown()),
  }),
});
const toolResult = z.strictObject({
  toolResult: z.strictObject({ toolUseId, content: z.array(text), status: z.string().optional() }),
});
const reasoning = z.strictObject({
  reasoningContent: z.union([
    z.strictObject({ reasoningText: z.strictObject({ text: z.string(), signature: z.string().optional() }) }),
    z.strictObject({ redactedContent: z.base64() }),
  ]),
});
const cachePoint = z.strictObject({
  cachePoint: z.strictObject({ type: z.literal("default"), ttl: z.enum(["5m", "1h"]).optional() }),
});
const block = z.union([text, image, document, toolUse, toolResult, reasoning, cachePoint]);
const turn = z.strictObject({ role: z.enum(["user", "assistant"]), content: z.array(block).min(1) });

const toolSpec = z.strictObject({
  name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/),
  description: z.string().min(1).optional(),
  inputSchema: z.strictObject({ json: z.looseObject({ type: z.literal("object") }) }),
  strict: z.boolean().optional(),
});

const additional = z.looseObject({
  thinking: z.looseObject({ type: z.string(), budget_tokens: z.int().min(1024).optional() }).optional(),
  output_config: z.looseObject({ effort: z.string().optional() }).optional(),
  reasoningConfig: z
    .strictObject({
      type: z.enum(["enabled", "disabled"]),
      maxReasoningEffort: z.enum(["low", "medium", "high"]),
    })
    .optional(),
  reasoning_effort: z.string().optional(),
});

export const converseSchema = z.strictObject({
  messages: z.array(turn).min(1),
  system: z.array(z.union([text, cachePoint])).optional(),
  inferenceConfig: z
    .strictObject({
      maxTokens: z.int().min(1).optional(),
      temperature: z.number().min(0).max(1).optional(),
      topP: z.number().min(0).max(1).optional(),
      stopSequences: z.array(z.string().min(1)).max(2500).optional(),
    })
    .optional(),
  toolConfig: z
    .strictObject({
      tools: z.array(z.union([z.strictObject({ toolSpec }), cachePoint])).min(1),
      toolChoice: z
        .union([
          z.strictObject({ auto: z.strictObject({}) }),
          z.strictObject({ any: z.strictObject({}) }),
          z.strictObject({ tool: z.strictObject({ name: z.string() }) }),
        ])
        .optional(),
    })
    .optional(),
  outputConfig: z
    .strictObject({
      textFormat: z.strictObject({
        type: z.literal("json_schema"),
        structure: z.strictObject({
          jsonSchema: z.strictObject({
            schema: z.string(),
            name: z.string().optional(),
            description: z.string().optional(),
          }),
        }),
      }),
    })
    .optional(),
  guardrailConfig: z
    .strictObject({ guardrailIdentifier: z.string(), guardrailVersion: z.string() })
    .optional(),
  additionalModelRequestFields: additional.optional(),
});

export type Converse = z.output<typeof converseSchema>;
type Turn = Converse["messages"][number];

/** Throws `FaceRefusal` with the vendor's 400 for what its models do not accept. */
export function requireSound(request: Converse, model: string): void {
  const refuse = (message: string): never => {
    throw new FaceRefusal(message, { status: 400, code: "ValidationException", model });
  };
  const { messages, toolConfig } = request;
  if (messages[0]?.role !== "user") refuse("A conversation must start with a user message.");
  if (messages.at(-1)?.role !== "user") refuse("The conversation must end with a user message.");
  for (const [at, { role, content }] of messages.entries()) {
    const before = messages[at - 1];
    if (before?.role === role) refuse("A conversation must alternate between user and assistant roles.");
    for (const [place, one] of content.entries())
      if ("text" in one && one.text.trim() === "")
        refuse(`The text field in the ContentBlock object at messages.${at}.content.${place} is blank.`);
    if (role === "user") requireResults(before, content, { at, refuse });
    else requireSigned(content, { at, refuse });
  }
  const calls = messages.some(({ content }) =>
    content.some((one) => "toolUse" in one || "toolResult" in one),
  );
  if (calls && toolConfig === undefined)
    refuse("The toolConfig field must be defined when using toolUse and toolResult content blocks.");
  const fault = documentFault(messages);
  if (fault !== null) refuse(fault);
  requireThinking(request, refuse);
  requirePoints(request, model, refuse);
}

type Refuse = (message: string) => void;

/** Every call must be answered in the very next message, and nothing else may be. */
function requireResults(
  before: Turn | undefined,
  content: Turn["content"],
  { at, refuse }: { at: number; refuse: Refuse },
): void {
  const asked = before?.content.flatMap((one) => ("toolUse" in one ? [one.toolUse.toolUseId] : [])) ?? [];
  const told = content.flatMap((one) => ("toolResult" in one ? [one.toolResult.toolUseId] : []));
  const [calls, results] = [new Set(asked), new Set(told)];
  const missing = asked.filter((id) => !results.has(id));
  if (missing.length > 0)
    refuse(
      `Expected toolResult blocks at messages.${at}.content for the following Ids: ${missing.join(", ")}`,
    );
  if (told.length > asked.length || told.some((id) => !calls.has(id)))
    refuse(`The number of toolResult blocks at messages.${at}.content exceeds the toolUse blocks of before.`);
}

function requireSigned(content: Turn["content"], { at, refuse }: { at: number; refuse: Refuse }): void {
  for (const [place, one] of content.entries()) {
    if ("toolResult" in one) refuse(`messages.${at}.content.${place}: toolResult in an assistant message.`);
    if (!("reasoningContent" in one) || !("reasoningText" in one.reasoningContent)) continue;
    const { text: said, signature } = one.reasoningContent.reasoningText;
    if (!isSignedText(said, signature))
      refuse(`messages.${at}.content.${place}: Invalid \`signature\` in \`thinking\` block`);
  }
}

/**
 * Requires a budget below the maximum, nothing that excludes it, and the model's own reasoning in front of the
 * current round's calls.
 */
function requireThinking(request: Converse, refuse: Refuse): void {
  const { thinking } = request.additionalModelRequestFields ?? {};
  if (thinking?.type !== "enabled") return;
  const { maxTokens = 0, temperature } = request.inferenceConfig ?? {};
  if ((thinking.budget_tokens ?? 0) >= maxTokens)
    refuse("`max_tokens` must be greater than `thinking.budget_tokens`");
  if (temperature !== undefined && temperature !== 1)
    refuse("`temperature` may only be set to 1 when thinking is enabled.");
  const choice = request.toolConfig?.toolChoice ?? {};
  if ("any" in choice || "tool" in choice)
    refuse("Thinking may not be enabled when tool_choice forces tool use.");
  const asked = request.messages.findLastIndex(
    ({ role, content }) => role === "user" && content.every((one) => !("toolResult" in one)),
  );
  const first = request.messages
    .slice(asked + 1)
    .find(({ content }) => content.some((one) => "toolUse" in one));
  if (first !== undefined && !("reasoningContent" in (first.content[0] ?? {})))
    refuse("Expected `thinking` or `redacted_thinking`, but found `tool_use`.");
}

/**
 * Returns the lifetimes of all cache points, in the order in which the vendor reads them: tools, instructions,
 * conversation.
 */
export const pointsOf = ({ toolConfig, system = [], messages }: Converse): ("5m" | "1h")[] =>
  [...(toolConfig?.tools ?? []), ...system, ...messages.flatMap(({ content }) => content)].flatMap((one) =>
    "cachePoint" in one ? [one.cachePoint.ttl ?? "5m"] : [],
  );

/** Claude can cache all of it; Nova no tools and nothing for an hour; other models nothing. */
function requirePoints(request: Converse, model: string, refuse: Refuse): void {
  const points = pointsOf(request);
  if (points.length === 0) return;
  const nova = model.includes("amazon.nova");
  if (!nova && !model.includes("claude"))
    refuse("You invoked an unsupported model or your request did not allow prompt caching.");
  if (points.length > 4) refuse("You can use a maximum of 4 cache points in a request.");
  if (points.includes("1h") && (nova || /claude-3|-4-20/.test(model)))
    refuse("Extended TTL prompt caching is not supported by this model.");
  if (points.lastIndexOf("1h") > points.indexOf("5m") && points.includes("5m"))
    refuse("A `1h` cache point must not come after a `5m` cache point.");
  if (nova && request.toolConfig?.tools.some((one) => "cachePoint" in one) === true)
    refuse("Prompt caching of tools is not supported by this model.");
  for (const [at, { content }] of request.messages.entries())
    for (const [place, one] of content.entries()) {
      const before = content[place - 1];
      if (!("cachePoint" in one)) continue;
      if (before === undefined || "cachePoint" in before || "reasoningContent" in before)
        refuse(`messages.${at}.content.${place}: a cache point must follow what it keeps.`);
      else if (nova && "toolResult" in before)
        refuse("Prompt caching of tool results is not supported by this model.");
    }
}

/** Converts the call to the form that every face of the simulator answers. */
export function askedByConverse(
  request: Converse,
  { model, stream }: { model: string; stream: boolean },
): Asked {
  const { toolConfig, outputConfig, inferenceConfig, system = [] } = request;
  const effort = effortOf(request);
  return {
    model,
    stream,
    messages: [
      ...system.flatMap((one) => ("text" in one ? [{ role: "system", content: one.text }] : [])),
      ...request.messages.flatMap(saidIn),
    ],
    documentTokens: documentTokens(converseDocuments(request.messages), { model }),
    ...(inferenceConfig?.maxTokens !== undefined && { max_tokens: inferenceConfig.maxTokens }),
    ...(toolConfig !== undefined && {
      tools: toolConfig.tools.flatMap((one) =>
        "toolSpec" in one
          ? [{ function: { name: one.toolSpec.name, parameters: one.toolSpec.inputSchema.json } }]
          : [],
      ),
      tool_choice: choiceOf(toolConfig.toolChoice),
    }),
    ...(effort !== null && { reasoning_effort: effort }),
    ...(outputConfig !== undefined && {
      response_format: {
        type: "json_schema",
        json_schema: { schema: JSON.parse(outputConfig.textFormat.structure.jsonSchema.schema) as unknown },
      },
    }),
  };
}

/** Returns one of our messages for each kind of block in a turn: results are messages of their own. */
function saidIn({ role, content }: Turn): Asked["messages"] {
  const results = content.flatMap((one) =>
    "toolResult" in one
      ? [{ role: "tool", content: one.toolResult.content.map(({ text: said }) => said).join("") }]
      : [],
  );
  const calls = content.flatMap((one) => ("toolUse" in one ? [one.toolUse] : []));
  const texts = content.flatMap((one) => ("text" in one ? [one.text] : []));
  if (texts.length === 0 && calls.length === 0) return results;
  return [...results, { role, content: texts.join(""), ...(calls.length > 0 && { tool_calls: calls }) }];
}

function choiceOf(choice: NonNullable<Converse["toolConfig"]>["toolChoice"]): unknown {
  if (choice === undefined || "auto" in choice) return "auto";
  return "any" in choice ? "required" : { type: "function", function: choice.tool };
}

function effortOf({ additionalModelRequestFields: told = {} }: Converse): string | null {
  const { thinking, output_config: output, reasoningConfig: config, reasoning_effort: effort } = told;
  if (thinking?.type === "enabled") return "medium";
  if (thinking?.type === "adaptive") return output?.effort ?? "high";
  if (config?.type === "enabled") return config.maxReasoningEffort;
  return effort ?? null;
}
