// Builds the body for Converse (wire.md §8.1, §8.2) from validated fields only. It is printed once, and what was
// measured for the quote is what is sent; the ceiling, and the reasoning fields that depend on it, follow at the end.
import type { ChatRequest, ToolDefinition } from "../../domain/chat-request.ts";
import { echo, refuse } from "../../domain/read-value.ts";
import type { OptionalField } from "../../domain/request-fields.ts";
import { type Markable, markOf } from "../anthropic/cache-marks.ts";
import { tellableStops } from "../anthropic/stop-sequences.ts";
import { formatOf, isForced } from "../anthropic/tools.ts";
import type { CallDraft, OutgoingBody } from "../provider.ts";
import { unescaped } from "../unescaped.ts";
import { type CachePoint, keptBy, MARK, settlePoints, withPoints } from "./cache-points.ts";
import { type Family, familyOf, type Reasoning, reasoningFor, signerOf } from "./families.ts";
import type { Turn } from "../turns.ts";
import { type ConverseBlock, converseMessages } from "./messages.ts";

/** The optional request fields that this shape supports. */
export const CONVERSE_FIELDS: readonly OptionalField[] = ["top_p", "stream_options", "response_format"];

/** An allowance, in tools of 16 tokens, for what models' makers add about tools and schemas, counted as the prompt's. */
const TOOLS_OF_THE_VENDOR = 64;

export interface ConverseDialect {
  /** The family of its models, if their names do not say it. */
  family: Family | null;
  guardrail: { id: string; version: string } | null;
}

type Printed = ConverseBlock | CachePoint;
type Fields = Record<string, unknown> & {
  messages: Turn<Printed>[];
  system?: Printed[];
  toolConfig?: { tools: (ToolSpec | CachePoint)[] };
};
type ToolSpec = { toolSpec: object } & Markable;

/**
 * Builds one upstream call without its ceiling, which the quote decides. Throws `Refusal` for what the shape cannot
 * express.
 */
export function converseBody(draft: CallDraft, dialect: ConverseDialect): OutgoingBody {
  const { request, release, reasoningEffort: mode } = draft;
  const { upstreamModel } = release;
  const family = familyOf(upstreamModel, dialect.family);
  const tools = toolsOf(request);
  const signer = signerOf(upstreamModel, family);
  const conversation = converseMessages(request.messages, { tools: tools.length > 0, signer });
  const reasoning = reasoningFor({
    upstreamModel,
    family,
    mode,
    lost: conversation.lost,
    forced: isForced(request),
  });
  if (family === "claude") tellableStops(request, release.model);
  const spoken = samplingOf(draft, reasoning);
  const turns = reasoning.recalls ? conversation.turns : withoutReasoning(conversation.turns);
  const specs = tools.map((tool) => specOf(tool, release.capabilities.json_schema));
  const said = [...conversation.system, ...turns.flatMap(({ content }) => content)];
  const unmarked = settlePoints({ tools: specs, said }, release, keptBy(upstreamModel, family));
  const fields: Fields = {
    messages: turns.map(({ role, content }) => ({ role, content: withPoints(content) })),
    ...(conversation.system.length > 0 && { system: withPoints(conversation.system) }),
    ...(tools.length > 0 && { toolConfig: toolConfig(draft, { specs, reasoning }) }),
    ...outputConfig(draft),
    ...(dialect.guardrail !== null && {
      guardrailConfig: {
        guardrailIdentifier: dialect.guardrail.id,
        guardrailVersion: dialect.guardrail.version,
      },
    }),
  };
  const end = (ceiling: number): string => endOf(spoken.fields, reasoning.fields(ceiling), ceiling);
  let printed: string | null = JSON.stringify(fields);
  const priced = request.images + request.files > 0 ? withoutInline(fields) : fields;
  const bytes = Buffer.byteLength(priced === fields ? printed : JSON.stringify(priced));
  const demands = tools.length > 0 || request.responseFormat !== null;
  return {
    size: {
      bytes: bytes + Buffer.byteLength(end(Number.MAX_SAFE_INTEGER)),
      messages: turns.length + conversation.system.length,
      tools: tools.length + (demands ? TOOLS_OF_THE_VENDOR : 0),
      images: request.images,
      files: request.files,
    },
    text: () => textOf({ ...priced, ...stopsOf(request) }),
    ignored: [...unknownFields(request), ...spoken.ignored, ...(unmarked ? [MARK] : [])],
    thinks: (ceiling) => reasoning.on && reasoning.fields(ceiling) !== null,
    print: (ceiling) => (printed ?? JSON.stringify(fields)).slice(0, -1) + end(ceiling),
    sent: () => {
      printed = null;
    },
  };
}

/** Returns the tools that may be called: the API cannot show tools that must not be called. */
function toolsOf({ tools, toolChoice }: ChatRequest): ToolDefinition[] {
  if (toolChoice === "none") return [];
  if (typeof toolChoice !== "object" || toolChoice === null || toolChoice.type !== "allowed_tools")
    return tools;
  const names = new Set(toolChoice.allowed_tools.tools.map(({ function: { name } }) => name));
  return tools.filter(({ function: { name } }) => names.has(name));
}

function toolConfig(
  { request, release }: CallDraft,
  { specs, reasoning }: { specs: readonly ToolSpec[]; reasoning: Reasoning },
): NonNullable<Fields["toolConfig"]> {
  const { toolChoice } = request;
  if (isForced(request) && reasoning.contract?.forcedTools === false)
    throw refuse(
      "unsupported_value",
      null,
      "tool_choice",
      `cannot force a tool call with model ${echo(release.model)}: send \`auto\`, and say in the messages what to call.`,
    );
  const named =
    typeof toolChoice === "object" && toolChoice?.type === "function" ? toolChoice.function : null;
  const choice = named !== null ? { tool: { name: named.name } } : isForced(request) ? { any: {} } : null;
  return {
    tools: withPoints(specs),
    ...(choice !== null && { toolChoice: choice }),
  };
}

/** `strict` only if the release supports schemas at all. */
function specOf(definition: ToolDefinition, strict: boolean): ToolSpec {
  const { function: tool } = definition;
  const { name, description, parameters = {} } = tool;
  const toolSpec = {
    name,
    ...(description !== undefined && description.trim() !== "" && { description }),
    inputSchema: { json: { ...parameters, type: "object" } },
    ...(strict && tool.strict === true && { strict: true }),
  };
  return { toolSpec, ...markOf(definition) };
}

/** The schema is sent as text. */
function outputConfig({ request: { responseFormat: format }, release }: CallDraft): object {
  const read = formatOf(format, release.model) as { schema: unknown } | null;
  if (read === null || format?.type !== "json_schema") return {};
  const { name, description } = format.json_schema;
  const jsonSchema = {
    schema: JSON.stringify(read.schema),
    name,
    ...(description !== undefined && { description }),
  };
  return { outputConfig: { textFormat: { type: "json_schema", structure: { jsonSchema } } } };
}

interface Spoken {
  fields: Record<string, unknown>;
  ignored: string[];
}

/** Returns the part of temperature and `top_p` that this model accepts with its reasoning and with each other. */
function samplingOf({ request, temperature }: CallDraft, { on, contract }: Reasoning): Spoken {
  const { top_p } = request.forwarded;
  const none = contract !== null && (on || contract.sampling === "none");
  const warm = !none && temperature !== null;
  const top = !none && top_p !== undefined && !(warm && contract?.sampling === "either");
  return {
    fields: {
      ...(warm && { temperature }),
      ...(top && { topP: top_p }),
      ...stopsOf(request),
    },
    ignored: [
      ...(request.temperature !== null && request.temperature !== 1 && !warm ? ["temperature"] : []),
      ...(top_p !== undefined && !top ? ["top_p"] : []),
    ],
  };
}

const stopsOf = ({ stop }: ChatRequest): { stopSequences?: string[] } =>
  stop.length === 0 ? {} : { stopSequences: stop };

const unknownFields = ({ forwarded, identifiers }: ChatRequest): string[] =>
  [...Object.keys(forwarded), ...Object.keys(identifiers)].filter(
    (name) => !CONVERSE_FIELDS.some((field) => field === name),
  );

/** Returns what is printed last, including the brace that closes the body. */
function endOf(spoken: object, additional: object | null, maxTokens: number): string {
  const more = additional === null ? "" : `,"additionalModelRequestFields":${JSON.stringify(additional)}`;
  return `,"inferenceConfig":${JSON.stringify({ maxTokens, ...spoken })}${more}}`;
}

const withoutReasoning = (turns: readonly Turn<ConverseBlock>[]): Turn<ConverseBlock>[] =>
  turns.map(({ role, content }) => ({
    role,
    content: content.filter((block) => !("reasoningContent" in block)),
  }));

/** Inline images and files have flat maxima of their own, so their data weighs nothing; everything else about them does. */
const withoutInline = (fields: Fields): Fields => ({
  ...fields,
  messages: fields.messages.map(({ role, content }) => ({ role, content: content.map(withoutData) })),
});

function withoutData(block: Printed): Printed {
  const source = { bytes: "" };
  if ("image" in block) return { image: { ...block.image, source } };
  return "document" in block ? { document: { ...block.document, source } } : block;
}

/** Texts as they are; anything with a structure as its JSON text without escapes. Models do not read cache marks. */
function textOf({ system = [], messages, toolConfig: config, ...fields }: Fields): string {
  const texts: string[] = [];
  if (config !== undefined)
    texts.push(unescaped({ ...config, tools: config.tools.filter((one) => !("cachePoint" in one)) }));
  for (const [name, value] of Object.entries(fields))
    if (name !== "guardrailConfig") texts.push(unescaped(value));
  for (const block of [...system, ...messages.flatMap(({ content }) => content)])
    if (!("cachePoint" in block)) texts.push("text" in block ? block.text : unescaped(block));
  return texts.join("");
}
