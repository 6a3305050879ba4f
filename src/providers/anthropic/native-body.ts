// A caller's own Messages body for an upstream of that shape (surfaces.md §4): the order and unknown members are
// kept. The gateway sets the model, the output maximum and the budget within it, identifiers and priced cache marks,
// and changes what this model would reject because the conversation began on another one.
import type { NativeBody } from "../../domain/native-body.ts";
import type { JsonObject } from "../../domain/read-value.ts";
import { echo, isJsonObject, refuse } from "../../domain/read-value.ts";
import { joined, type JsonText, printMembers, textBytes } from "../../domain/written-lists.ts";
import type { CallDraft, OutgoingBody } from "../provider.ts";
import { unescaped } from "../unescaped.ts";
import { withoutNulls } from "../without-nulls.ts";
import { allowedBetas, BETA_HEADER, isSent } from "./betas.ts";
import { type Contract, contractOf } from "./contracts.ts";
import { withSettledMarks } from "./native-marks.ts";
import { knownSettings } from "./native-settings.ts";
import { type NativeThoughts, nativeThoughts } from "./native-thinking.ts";
import { type NativeTurns, nativeTurns } from "./native-turns.ts";
import {
  bytesOfEnd,
  type ClaudeDialect,
  printEnd,
  samplingOf,
  TOOLS_OF_THE_VENDOR,
  UNREAD,
} from "./request-body.ts";
import { tellableStops } from "./stop-sequences.ts";
import { isOn } from "./thinking.ts";
import { isForced } from "./tools.ts";

/**
 * Builds one upstream call without its ceiling, which the quote decides. Throws `Refusal` for what this model does
 * not support.
 */
export function nativeClaudeBody(draft: CallDraft, native: NativeBody, dialect: ClaudeDialect): OutgoingBody {
  const { request, release } = draft;
  const contract = contractAt(release.upstreamModel, dialect);
  if (isForced(request) && !contract.forcedTools)
    throw refuse(
      "unsupported_value",
      null,
      "tool_choice",
      `cannot force a tool call with model ${echo(release.model)}: send \`auto\`, and say in the messages what to call.`,
    );
  tellableStops(request, release.model);
  const known = knownSettings(native.body, { host: dialect.host, systemTurns: contract.systemTurns });
  const said = saidOf(draft, known.body, { contract, drops: contract.bound && dialect.dropsUnbound });
  const { thoughts } = said;
  const sampling = samplingOf(draft, { contract, thoughts });
  const topK = !thoughts.on && contract.sampling !== "none";
  const fields = withSettledMarks(
    fieldsOf(draft, known.body, { dialect, said, sampling: { ...sampling.fields, topK } }),
    { price: release.price, scoped: isSent(CACHE_SCOPE, dialect.host) },
  );
  const betas = allowedBetas(native.headers[BETA_HEADER], dialect.host);
  let printed: JsonText | null = printMembers(fields, request.written);
  const inline = request.images > 0 || request.files > 0;
  const priced = inline ? withoutInlineData(fields) : fields;
  const bytes = 2 + textBytes(priced === fields ? printed : printMembers(priced, null));
  const { system, messages, tools } = fields;
  const demands = tools !== undefined || request.responseFormat !== null;
  return {
    native: true,
    places: known.places && said.turns.places,
    headers: betas.names.length === 0 ? {} : { [BETA_HEADER]: betas.names.join(",") },
    size: {
      bytes: bytes + bytesOfEnd(thoughts),
      messages: lengthOf(messages) + lengthOf(system),
      tools: lengthOf(tools) + (demands ? TOOLS_OF_THE_VENDOR : 0),
      images: request.images,
      files: request.files,
    },
    text: () => textOf(priced),
    ignored: [
      ...sampling.ignored,
      ...(native.body["top_k"] !== undefined && !topK ? ["top_k"] : []),
      ...(thoughts.effortDropped && release.reasoning !== null ? ["output_config.effort"] : []),
      ...known.ignored,
      ...betas.ignored,
    ],
    thinks: (ceiling) => isOn(thoughts, ceiling),
    print: (ceiling) => joined("{", printed ?? printMembers(fields, null), printEnd(thoughts, ceiling)),
    counted: () => countedOf(fields, thoughts),
    sent: () => {
      printed = null;
    },
  };
}

/** The beta that lets a cache mark have a scope, which says who shares the cached content. */
const CACHE_SCOPE = "prompt-caching-scope-2026-01-05";

function contractAt(upstreamModel: string, dialect: ClaudeDialect): Contract {
  const contract = { ...contractOf(upstreamModel), ...dialect.contract };
  return dialect.systemTurns ? contract : { ...contract, systemTurns: false };
}

/** The fields that the vendor's token count accepts; it rejects all others. */
const COUNTED = [
  "model",
  "messages",
  "system",
  "tools",
  "tool_choice",
  "output_config",
  "context_management",
  "cache_control",
] as const;

function countedOf(fields: JsonObject, thoughts: NativeThoughts): string {
  const thinking = thoughts.field(Number.MAX_SAFE_INTEGER);
  const asked: JsonObject = thinking === null ? {} : { thinking };
  for (const name of COUNTED) if (fields[name] !== undefined) asked[name] = fields[name];
  return JSON.stringify(asked);
}

const lengthOf = (value: unknown): number => (Array.isArray(value) ? value.length : 1);

interface Said {
  turns: NativeTurns;
  thoughts: NativeThoughts;
}

function saidOf(
  { request, reasoningEffort }: CallDraft,
  body: JsonObject,
  { contract, drops }: { contract: Contract; drops: boolean },
): Said {
  const messages = Array.isArray(body["messages"]) ? (body["messages"] as unknown[]) : [];
  const { systemTurns } = contract;
  const turns = nativeTurns(messages, { recalls: true, systemTurns });
  const possible = contract.thinking === "adaptive" || (!turns.lost && !isForced(request));
  const thoughts = nativeThoughts(body, { mode: reasoningEffort, contract, possible, drops });
  return {
    thoughts,
    turns: thoughts.recalls ? turns : nativeTurns(messages, { recalls: false, systemTurns }),
  };
}

function fieldsOf(
  { request, release, identifiers }: CallDraft,
  body: JsonObject,
  {
    dialect,
    said: { turns, thoughts },
    sampling,
  }: {
    dialect: ClaudeDialect;
    said: Said;
    sampling: { temperature?: number; top_p?: number; topK: boolean };
  },
): JsonObject {
  const { versionInBody } = dialect;
  const fields: JsonObject = versionInBody === null ? {} : { anthropic_version: versionInBody };
  for (const name of Object.keys(body)) {
    const value = body[name];
    if (value === null) continue;
    switch (name) {
      case "max_tokens":
      case "thinking":
      case "temperature":
        break; // after all others
      case "model":
        if (versionInBody === null) fields["model"] = release.upstreamModel;
        break;
      case "messages":
        fields["messages"] = turns.messages;
        break;
      case "metadata":
        if (identifiers["user"] !== undefined) fields["metadata"] = { user_id: identifiers["user"] };
        break;
      case "output_config":
        Object.assign(fields, outputOf(value, thoughts));
        break;
      case "top_p":
        if (sampling.top_p !== undefined) fields["top_p"] = sampling.top_p;
        break;
      case "system":
        if (value !== "") fields["system"] = value; // the vendor rejects an empty system prompt
        break;
      case "top_k":
        if (sampling.topK) fields["top_k"] = value;
        break;
      case "stream":
        if (request.stream) fields["stream"] = true;
        break;
      default:
        fields[name] = value;
    }
  }
  const { temperature } = sampling;
  if (temperature !== undefined) fields["temperature"] = temperature;
  if (thoughts.effort !== null && fields["output_config"] === undefined)
    fields["output_config"] = { effort: thoughts.effort };
  if (fields["tools"] === undefined) Object.assign(fields, describedOf(turns));
  return fields;
}

function outputOf(value: unknown, { effort }: NativeThoughts): JsonObject {
  const { effort: _said, ...rest } = isJsonObject(value) ? value : {};
  const output = { ...withoutNulls(rest), ...(effort !== null && { effort }) };
  return Object.keys(output).length === 0 ? {} : { output_config: output };
}

/** A conversation with calls needs descriptions of their tools, even if they may not be called again. */
function describedOf({ called }: NativeTurns): JsonObject {
  if (called.size === 0) return {};
  const tools = [...called].map((name) => ({ name, input_schema: { type: "object" } }));
  return { tools, tool_choice: { type: "none" } };
}

/**
 * Inline images and files have a flat maximum of their own, so their data weighs nothing; everything else does, even
 * if named `source`.
 */
function withoutInlineData(value: JsonObject): JsonObject {
  const copy: JsonObject = { ...value };
  for (const name of ["messages", "content"]) {
    const list = value[name];
    if (Array.isArray(list))
      copy[name] = list.map((one) => (isJsonObject(one) ? withoutInlineData(one) : one));
  }
  const { type, source } = value;
  if (isJsonObject(source) && (type === "image" || type === "document"))
    copy["source"] = source["type"] === "base64" ? { ...source, data: "" } : withoutInlineData(source);
  return copy;
}

const PLAIN_MEMBERS: ReadonlySet<string> = new Set(["type", "text", "cache_control"]);

const isPlainText = (block: unknown): block is { text: string } =>
  isJsonObject(block) &&
  typeof block["text"] === "string" &&
  Object.keys(block).every((name) => PLAIN_MEMBERS.has(name));

/** Texts as they are; anything with a structure as its JSON text without escapes. */
function textOf(fields: JsonObject): string {
  const texts: string[] = [];
  const read = (content: unknown): void => {
    if (typeof content === "string") texts.push(content);
    else if (Array.isArray(content))
      for (const block of content) texts.push(isPlainText(block) ? block.text : unescaped(block));
  };
  const { system, messages, ...rest } = fields;
  for (const [name, value] of Object.entries(rest))
    if (!UNREAD.has(name) && (typeof value === "object" || typeof value === "string"))
      texts.push(unescaped(value));
  read(system);
  if (Array.isArray(messages))
    for (const message of messages) read(isJsonObject(message) ? message["content"] : message);
  return texts.join("");
}
