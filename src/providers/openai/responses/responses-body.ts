// A caller's own Responses body for an upstream of that shape (surfaces.md §4): the order and unknown members are
// kept. The gateway sets the model, the output maximum, what is stored (nothing) and identifiers, and removes
// reasoning of other issuers.
import type { NativeBody } from "../../../domain/native-body.ts";
import { isJsonObject } from "../../../domain/read-value.ts";
import type { JsonObject } from "../../../domain/read-value.ts";
import { joined, type JsonText, printMembers, textBytes } from "../../../domain/written-lists.ts";
import type { CallDraft, OutgoingBody } from "../../provider.ts";
import { unescaped } from "../../unescaped.ts";
import { returnedItems } from "./reasoning-marks.ts";

const CEILING = "max_output_tokens";
/** `,"max_output_tokens":` and as many digits as a token count can have. */
const CEILING_BYTES = CEILING.length + 4 + String(Number.MAX_SAFE_INTEGER).length;
const IDENTIFIERS = ["user", "safety_identifier", "prompt_cache_key"];

/** Builds one upstream call without its ceiling, which the quote decides. */
export function responsesBody(draft: CallDraft, { body }: NativeBody, issuer: string): OutgoingBody {
  const { request } = draft;
  const fields = fieldsOf(draft, body, issuer);
  let printed: JsonText | null = printMembers(fields, request.written);
  const inline = request.images > 0 || request.files > 0;
  const priced = inline ? withoutData(fields) : fields;
  const { input, instructions } = priced;
  return {
    native: true,
    places: !Array.isArray(body["input"]) || lengthOf(fields.input) === body["input"].length,
    size: {
      bytes: 2 + textBytes(inline ? printMembers(priced, null) : printed) + CEILING_BYTES,
      messages: (Array.isArray(input) ? input.length : 1) + (instructions === undefined ? 0 : 1),
      tools: request.tools.length,
      images: request.images,
      files: request.files,
    },
    ignored: [],
    text: () => textOf(priced),
    print: (ceiling) => joined("{", printed ?? printMembers(fields, null), `,"${CEILING}":${ceiling}}`),
    sent: () => {
      printed = null;
    },
  };
}

function fieldsOf(
  { request, release, identifiers, reasoningEffort: effort, temperature }: CallDraft,
  body: JsonObject,
  issuer: string,
): JsonObject {
  const fields: JsonObject = {};
  for (const name of Object.keys(body)) {
    const value = body[name];
    if (value === null) continue;
    switch (name) {
      case "store":
      case "background":
      case CEILING:
        break; // set by the gateway
      case "model":
        fields.model = release.upstreamModel;
        break;
      case "input":
        fields.input = Array.isArray(value) ? returnedItems(value, issuer) : value;
        break;
      case "reasoning":
        fields.reasoning = { ...(isJsonObject(value) && value), ...(effort !== null && { effort }) };
        break;
      case "temperature":
        if (temperature !== null) fields.temperature = temperature;
        break;
      case "stream":
        if (request.stream) fields.stream = true;
        break;
      default:
        if (!IDENTIFIERS.includes(name)) fields[name] = value;
        else if (identifiers[name] !== undefined) fields[name] = identifiers[name];
    }
  }
  if (temperature !== null) fields.temperature ??= temperature;
  if (effort !== null) fields.reasoning ??= { effort };
  fields.store = false;
  return fields;
}

const lengthOf = (list: unknown): number => (Array.isArray(list) ? list.length : 0);

/**
 * Inline images and files have a flat maximum of their own, so their data weighs nothing; everything else about them
 * does.
 */
function withoutData(fields: JsonObject): JsonObject {
  const { input } = fields;
  if (!Array.isArray(input)) return fields;
  const items = (input as JsonObject[]).map((item) => ({
    ...item,
    ...(Array.isArray(item.content) && { content: item.content.map(weightless) }),
    ...(Array.isArray(item.output) && { output: item.output.map(weightless) }),
  }));
  return { ...fields, input: items };
}

/** Only inside an image or a file, which are counted; anything else with such a name weighs what it is. */
function weightless(part: unknown): unknown {
  if (!isJsonObject(part)) return part;
  const { type, image_url: url, file_data: data } = part;
  if (type === "input_file" && typeof data === "string") return { ...part, file_data: "" };
  const inline = type === "input_image" && typeof url === "string" && /^data:/i.test(url);
  return inline ? { ...part, image_url: "" } : part;
}

/** Short words of the gateway's own and of closed lists, which no model reads. Everything that is not listed counts. */
const SETTINGS: ReadonlySet<string> = new Set([
  "model",
  "include",
  "stream",
  "stream_options",
  "store",
  "truncation",
  "reasoning",
  "parallel_tool_calls",
  "temperature",
  "top_p",
  "top_logprobs",
  ...IDENTIFIERS,
]);
/** The frame of an item, which has its flat overhead. */
const FRAME = new Set(["type", "role", "status", "id", "call_id", "detail", "phase"]);

/** Texts as they are; anything with a structure as its JSON text without escapes. */
function textOf({ input, ...fields }: JsonObject): string {
  const texts: string[] = [];
  for (const [name, value] of Object.entries(fields))
    if (!SETTINGS.has(name)) texts.push(typeof value === "string" ? value : unescaped(value));
  addTexts(input, texts);
  return texts.join("");
}

function addTexts(value: unknown, texts: string[]): void {
  if (typeof value === "string") texts.push(value);
  else if (Array.isArray(value)) for (const one of value) addTexts(one, texts);
  else if (isJsonObject(value))
    for (const [name, member] of Object.entries(value))
      if (name === "tools") texts.push(unescaped(member));
      else if (!FRAME.has(name)) addTexts(member, texts);
}
