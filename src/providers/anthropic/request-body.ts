// Builds the body in the Anthropic shape (wire.md §8.1, §8.2) from validated fields only. It is printed once, and
// what was measured for the quote is what is sent; the ceiling, and the budget of thoughts within it, follow at the
// end.
import type { ChatRequest } from "../../domain/chat-request.ts";
import type { OptionalField } from "../../domain/request-fields.ts";
import type { CallDraft, OutgoingBody } from "../provider.ts";
import { unescaped } from "../unescaped.ts";
import { type Markable, settleMarks } from "./cache-marks.ts";
import { type Contract, contractOf } from "./contracts.ts";
import type { EnvelopeName } from "./envelopes.ts";
import { type Block, type Conversation, conversationOf } from "./messages.ts";
import { OPENING, type Turn } from "../turns.ts";
import { tellableStops } from "./stop-sequences.ts";
import { isOn, type Thoughts, thoughtsFor } from "./thinking.ts";
import { claudeTools, formatOf, isForced } from "./tools.ts";

/** The optional request fields that this shape supports. */
export const CLAUDE_FIELDS: readonly OptionalField[] = [
  "top_p",
  "parallel_tool_calls",
  "user",
  "safety_identifier",
  "stream_options",
  "response_format",
];

/** An allowance, in tools of 16 tokens, for what the vendor adds about tools and schemas, counted as the prompt's. */
export const TOOLS_OF_THE_VENDOR = 64;

export interface ClaudeDialect {
  /** What is known of the models, whatever their names say. */
  contract: Partial<Contract>;
  /** The API's version in the body, if the envelope wants it there; its model is then in the path. */
  versionInBody: string | null;
  /** True if thoughts of another conversation are dropped where the model would reject them. */
  dropsUnbound: boolean;
  /** Where it is served: clouds do not know all settings of the vendor's own API. */
  host: EnvelopeName;
  /** True if the host accepts system messages within a conversation. */
  systemTurns: boolean;
}

type Fields = Record<string, unknown> & { system?: Block[]; messages: Turn<Block>[]; tools?: Markable[] };

/**
 * Builds one upstream call without its ceiling, which the quote decides. Throws `Refusal` for what the shape cannot
 * express.
 */
export function claudeBody(draft: CallDraft, dialect: ClaudeDialect): OutgoingBody {
  const { request } = draft;
  const contract = { ...contractOf(draft.release.upstreamModel), ...dialect.contract };
  const conversation = conversationOf(request.messages);
  const thoughts = thoughtsOf(draft, conversation, { contract, dialect });
  const spoken = samplingOf(draft, { contract, thoughts });
  const fields = bodyFields(draft, conversation, { dialect, contract, thoughts, spoken });
  settleMarks(markablesOf(fields), draft.release);
  let printed: string | null = JSON.stringify(fields);
  const priced = request.images + request.files > 0 ? withoutInline(fields) : fields;
  const bytes = Buffer.byteLength(priced === fields ? printed : JSON.stringify(priced));
  const demands = fields["tools"] !== undefined || request.responseFormat !== null;
  return {
    size: {
      bytes: bytes + bytesOfEnd(thoughts),
      messages: fields.messages.length + (fields.system?.length ?? 0),
      tools: request.tools.length + (demands ? TOOLS_OF_THE_VENDOR : 0),
      images: request.images,
      files: request.files,
    },
    text: () => textOf(priced),
    ignored: [...unknownFields(request), ...spoken.ignored],
    thinks: (ceiling) => isOn(thoughts, ceiling),
    print: (ceiling) => (printed ?? JSON.stringify(fields)).slice(0, -1) + printEnd(thoughts, ceiling),
    sent: () => {
      printed = null;
    },
  };
}

function thoughtsOf(
  { request, reasoningEffort }: CallDraft,
  { lost }: Conversation,
  { contract, dialect }: { contract: Contract; dialect: ClaudeDialect },
): Thoughts {
  // With a budget, the vendor rejects a required tool and a tool round without its thoughts; with an effort it
  // rejects neither.
  const possible = contract.thinking === "adaptive" || (!lost && !isForced(request));
  return thoughtsFor(reasoningEffort, contract, {
    possible,
    drops: contract.bound && dialect.dropsUnbound,
  });
}

interface Spoken {
  fields: Record<string, number>;
  ignored: string[];
}

/** Returns the part of temperature and `top_p` that this model accepts with its thoughts and with each other. */
export function samplingOf(
  { request, temperature }: Pick<CallDraft, "request" | "temperature">,
  { contract, thoughts }: { contract: Contract; thoughts: Pick<Thoughts, "on"> },
): Spoken {
  const { top_p } = request.forwarded;
  const none = thoughts.on || contract.sampling === "none";
  const warm = !none && temperature !== null;
  const top = !none && top_p !== undefined && !(warm && contract.sampling === "either");
  return {
    fields: { ...(warm && { temperature }), ...(top && { top_p }) },
    ignored: [
      ...(request.temperature !== null && request.temperature !== 1 && !warm ? ["temperature"] : []),
      ...(top_p !== undefined && !top ? ["top_p"] : []),
    ],
  };
}

function bodyFields(
  draft: CallDraft,
  conversation: Conversation,
  how: { dialect: ClaudeDialect; contract: Contract; thoughts: Thoughts; spoken: Spoken },
): Fields {
  const { request, release, identifiers } = draft;
  const { dialect, contract, thoughts, spoken } = how;
  const { system, turns } = said(conversation, thoughts);
  const user = identifiers["user"] ?? identifiers["safety_identifier"];
  const format = formatOf(request.responseFormat, release.model);
  const output = {
    ...(thoughts.effort !== null && { effort: thoughts.effort }),
    ...(format !== null && { format }),
  };
  const stops = tellableStops(request, release.model);
  return {
    ...(dialect.versionInBody === null
      ? { model: release.upstreamModel }
      : { anthropic_version: dialect.versionInBody }),
    ...(system.length > 0 && { system }),
    messages: turns,
    ...claudeTools(request, {
      called: conversation.called,
      contract,
      strict: release.capabilities.json_schema,
      model: release.model,
    }),
    ...(Object.keys(output).length > 0 && { output_config: output }),
    ...spoken.fields,
    ...(stops.length > 0 && { stop_sequences: stops }),
    ...(user !== undefined && { metadata: { user_id: user } }),
    ...(request.stream && { stream: true }),
  };
}

/** Removes earlier thoughts if they are not wanted. If there are only instructions, they become the user's message. */
function said(
  { system, turns }: Conversation,
  { recalls }: Thoughts,
): Pick<Conversation, "system" | "turns"> {
  if (turns.length === 0) {
    const content: Block[] = system.length > 0 ? system : [{ type: "text", text: OPENING }];
    return { system: [], turns: [{ role: "user", content }] };
  }
  if (recalls) return { system, turns };
  const words = turns.map(({ role, content }) => ({
    role,
    content: content.filter(({ type }) => !type.endsWith("thinking")),
  }));
  return { system, turns: words };
}

/** Everything that may carry a cache mark, in the order in which the vendor reads it: tools, system, conversation. */
const markablesOf = ({ tools = [], system = [], messages }: Fields): Markable[] => [
  ...tools,
  ...[...system, ...messages.flatMap(({ content }) => content)].flatMap((block): Markable[] =>
    block.type === "tool_result"
      ? ((block.content ?? []) as Markable[])
      : "text" in block || "source" in block
        ? [block]
        : [],
  ),
];

const unknownFields = ({ forwarded, identifiers }: ChatRequest): string[] =>
  [...Object.keys(forwarded), ...Object.keys(identifiers)].filter(
    (name) => !CLAUDE_FIELDS.some((field) => field === name),
  );

/** Returns what is printed last, including the brace that closes the body. */
export function printEnd(thoughts: Thoughts, ceiling: number): string {
  const thinking = thoughts.field(ceiling);
  return `,"max_tokens":${ceiling}${thinking === null ? "" : `,"thinking":${JSON.stringify(thinking)}`}}`;
}

/** The maximum length of the end, in UTF-8 bytes: the quote counts them before the ceiling is known. */
export const bytesOfEnd = (thoughts: Thoughts): number => printEnd(thoughts, Number.MAX_SAFE_INTEGER).length;

/** Inline images and files have flat maxima of their own, so their data weighs nothing; everything else about them does. */
const withoutInline = (fields: Fields): Fields => ({
  ...fields,
  messages: fields.messages.map(({ role, content }) => ({ role, content: content.map(withoutData) })),
});

const withoutData = (block: Block): Block =>
  (block.type === "image" && block.source.type === "base64") || block.type === "document"
    ? ({ ...block, source: { ...block.source, data: "" } } as Block)
    : block;

/** Short words of the gateway's own, which no model reads. Everything that is not listed counts. */
export const UNREAD: ReadonlySet<string> = new Set(["model", "anthropic_version", "metadata", "stream"]);

/** Texts as they are; anything with a structure as its JSON text without escapes. */
function textOf({ system = [], messages, ...fields }: Fields): string {
  const texts: string[] = [];
  for (const [name, value] of Object.entries(fields))
    if (!UNREAD.has(name) && typeof value === "object") texts.push(unescaped(value));
  for (const block of [...system, ...messages.flatMap(({ content }) => content)])
    texts.push(block.type === "text" ? block.text : unescaped(block));
  return texts.join("");
}
