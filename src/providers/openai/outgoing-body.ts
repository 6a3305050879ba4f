// Builds the body in the OpenAI shape (wire.md §1 actions F, §8.1): from validated fields only, never copied from the
// caller, in the provider's dialect. It is printed once, and what was measured for the quote is what is sent. The
// output ceiling is always in it, so generation cannot outrun the hold.
import { type ChatRequest, type ContentPart, isInlineImage } from "../../domain/chat-request.ts";
import { REQUEST_FIELDS } from "../../domain/request-fields.ts";
import { type Dialect, dialectOfModel } from "./dialects.ts";
import type { PromptSize } from "../../domain/prompt.ts";
import {
  type BodyText,
  joined,
  type JsonText,
  printMembers,
  textBytes,
  type WrittenLists,
} from "../../domain/written-lists.ts";
import { issuerOf } from "../issuer.ts";
import type { CallDraft, OutgoingBody } from "../provider.ts";
import { alike, type Hearer, outgoingMessages, unmarked } from "./outgoing-messages.ts";
import { unescaped } from "../unescaped.ts";

export interface BodyOptions {
  /** The provider's name: the key under which its own state comes back (wire.md §8.4). */
  family: string;
  dialect: Dialect;
}

type Fields = Record<string, unknown>;

/** Builds one upstream call without its ceiling, which the quote decides. */
export const outgoingBody = (draft: CallDraft, options: BodyOptions): OutgoingBody =>
  new PrintedBody(draft, options);

class PrintedBody implements OutgoingBody {
  readonly places: boolean;
  readonly size: PromptSize;
  readonly ignored: readonly string[];
  private readonly request: ChatRequest;
  private readonly conversation: Conversation;
  private readonly fields: Fields;
  readonly mayThink: boolean;
  readonly keepsThoughts: boolean;
  private readonly thinking: boolean;
  private readonly ceilingName: string;
  /** The text around the messages; `behind` is not closed. */
  private readonly before: string;
  private behind: JsonText | null;

  constructor(draft: CallDraft, { family, dialect: usual }: BodyOptions) {
    const { request } = draft;
    const dialect = dialectOfModel(usual, draft.release.upstreamModel);
    const effort = possibleMode(draft, dialect);
    const known: readonly string[] = dialect.ownSampling === true ? withoutSampling(dialect) : dialect.fields;
    const issuer = dialect.reasoningDetails ? issuerOf(family, draft.release.upstreamModel) : "";
    this.request = request;
    this.places = request.native === null && !dialect.strictTurns;
    this.conversation = conversationFor(request, { family, issuer, effort, dialect });
    const temperature = dialect.ownSampling === true ? null : draft.temperature;
    this.fields = bodyFields({ ...draft, reasoningEffort: effort, temperature }, dialect, known);
    this.thinking = effort !== null && effort !== "none";
    this.mayThink = effort !== "none";
    this.keepsThoughts = dialect.keepsThoughts === true || dialect.thinking === "fixed";
    this.ceilingName = dialect.outputMaximum;
    this.before = `{"model":${JSON.stringify(draft.release.upstreamModel)},"messages":`;
    this.behind = membersBehind(this.fields, request.written);
    const frame = Buffer.byteLength(this.before) + textBytes(this.behind) + 1;
    this.size = {
      bytes: frame + this.conversation.bytes + ceilingBytes(this.ceilingName),
      messages: this.conversation.messages.length,
      tools: request.tools.length,
      images: request.images,
      files: request.files,
    };
    this.ignored = ignoredFields(request, known, dialect);
  }

  text(): string {
    return plainText(this.conversation.priced, this.fields);
  }

  print(ceiling: number): BodyText {
    const { before, conversation, ceilingName } = this;
    const behind = this.behind ?? membersBehind(this.fields, null);
    return joined(before, conversation.text, behind, `,"${ceilingName}":${ceiling}}`);
  }

  thinks(): boolean {
    return this.thinking;
  }

  sent(): void {
    this.conversation.sent();
    this.behind = null;
    CONVERSATIONS.delete(this.request);
  }
}

/** All fields but the model and the messages, each after a comma. */
function membersBehind(fields: Fields, written: WrittenLists | null): JsonText {
  const members = printMembers(fields, written);
  if (members.length === 0) return "";
  return typeof members === "string" ? `,${members}` : [",", ...members];
}

type Messages = readonly Record<string, unknown>[];

/** The messages for an upstream, printed once for all routes that get the same ones. */
class Conversation {
  /** The same, with inline data that weighs nothing. */
  readonly priced: Messages;
  /** The bytes of `priced` when printed. */
  readonly bytes: number;
  private printed: JsonText | null;

  constructor(
    readonly messages: Messages,
    { images, files, written }: ChatRequest,
  ) {
    const inline = images + files > 0;
    this.printed = written === null ? JSON.stringify(messages) : written.print("messages", messages);
    this.priced = inline ? withoutInline(messages) : messages;
    this.bytes = textBytes(inline ? JSON.stringify(this.priced) : this.printed);
  }

  get text(): JsonText {
    return this.printed ?? JSON.stringify(this.messages);
  }

  sent(): void {
    this.printed = null;
  }
}

/** For requests whose bodies are being prepared, by what decides the messages' form. */
const CONVERSATIONS = new WeakMap<ChatRequest, Map<string, Conversation>>();

function conversationFor(request: ChatRequest, hearer: Hearer): Conversation {
  const known = CONVERSATIONS.get(request) ?? new Map<string, Conversation>();
  CONVERSATIONS.set(request, known);
  const who = alike(hearer);
  let conversation = known.get(who);
  if (conversation === undefined) {
    const messages = outgoingMessages(request.messages, hearer);
    conversation = new Conversation(messages, request);
    known.set(who, conversation);
  }
  return conversation;
}

/** `,"name":` and as many digits as a token count can have. */
const ceilingBytes = (name: string): number => name.length + 4 + String(Number.MAX_SAFE_INTEGER).length;

/** For models with values of their own. */
const SAMPLING: ReadonlySet<string> = new Set(["top_p", "frequency_penalty", "presence_penalty"]);

const withoutSampling = ({ fields }: Dialect): string[] => fields.filter((name) => !SAMPLING.has(name));

/** Returns all fields but the model and the messages. */
function bodyFields(draft: CallDraft, dialect: Dialect, known: readonly string[]): Fields {
  const { request } = draft;
  const { parallel_tool_calls: parallel, ...forwarded } = only(request.forwarded, known);
  const fields: Fields = {};
  Object.assign(fields, forwarded, only(draft.identifiers, known));
  if (request.tools.length > 0) Object.assign(fields, toolFields(request, parallel));
  addSampling(fields, draft, dialect);
  if (request.responseFormat !== null) fields["response_format"] = request.responseFormat;
  if (!request.stream) return fields;
  fields["stream"] = true;
  if (known.includes("stream_options")) fields["stream_options"] = { include_usage: true };
  return fields;
}

/** Keeps the fields that the upstream knows. */
const only = <T extends object>(fields: T, known: readonly string[]): T =>
  knowsAll(fields, known) ? fields : filtered(fields, known);

const filtered = <T extends object>(fields: T, known: readonly string[]): T =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => known.includes(name))) as T;

/** Returns the names of given fields that this upstream does not know (action F of wire.md §1.1). */
function ignoredFields(
  { forwarded, identifiers, temperature }: ChatRequest,
  known: readonly string[],
  { ownSampling }: Dialect,
): readonly string[] {
  const warmth = ownSampling === true && temperature !== null ? ["temperature"] : NONE;
  return knowsAll(forwarded, known) && knowsAll(identifiers, known)
    ? warmth
    : [...warmth, ...unknownIn([...Object.keys(forwarded), ...Object.keys(identifiers)], known)];
}

const unknownIn = (names: readonly string[], known: readonly string[]): string[] =>
  names.filter((name) => !known.includes(name));

const NONE: readonly string[] = [];

function knowsAll(fields: object, known: readonly string[]): boolean {
  for (const name in fields) if (!known.includes(name)) return false;
  return true;
}

/** Only with tools: without any, upstreams reject a choice, or a setting of parallel calls. */
function toolFields({ tools, toolChoice }: ChatRequest, parallel: boolean | undefined): object {
  return {
    tools: unmarked(tools),
    ...(toolChoice !== null && { tool_choice: toolChoice }),
    ...(parallel !== undefined && { parallel_tool_calls: parallel }),
  };
}

function addSampling(
  fields: Fields,
  { request, reasoningEffort, temperature }: CallDraft,
  dialect: Pick<Dialect, "thinking" | "keepsThoughts">,
): void {
  if (temperature !== null) fields["temperature"] = temperature;
  Object.assign(fields, thinkingFields(reasoningEffort, dialect, request.keepThoughts));
  if (request.n > 1) fields["n"] = request.n;
  if (request.stop.length > 0) fields["stop"] = request.stop;
  Object.assign(fields, appliedFields(request.applied));
}

/** Whatever was asked for: the model always thinks, so the rules of thinking apply. */
const ALWAYS = "on";

/** Vendors with a switch refuse to think when a tool is required: the requirement wins. */
function possibleMode({ request, reasoningEffort: mode }: CallDraft, { thinking }: Dialect): string | null {
  if (thinking === "fixed") return ALWAYS;
  const { tools, toolChoice: choice } = request;
  const demanded = tools.length > 0 && choice !== null && choice !== "auto" && choice !== "none";
  const may =
    typeof choice === "object" && choice?.type === "allowed_tools" && choice.allowed_tools.mode === "auto";
  return mode !== null && thinking !== "effort" && demanded && !may ? "none" : mode;
}

/** Returns a published mode in the vendor's terms: those with a switch have no effort `none`. */
function thinkingFields(
  mode: string | null,
  { thinking: words, keepsThoughts }: Pick<Dialect, "thinking" | "keepsThoughts">,
  wished: boolean,
): object | null {
  if (words === "fixed") return null;
  if (words === "effort") return mode === null ? null : { reasoning_effort: mode };
  const off = mode === "none";
  const kept = wished && keepsThoughts === true && !off && { keep: "all" };
  if (mode === null) return kept === false ? null : { thinking: { type: "enabled", ...kept } };
  return {
    thinking: { type: off ? "disabled" : "enabled", ...kept },
    ...(words === "switch_and_effort" && !off && { reasoning_effort: mode }),
  };
}

/** In the table's order, whatever the caller's. What the upstream does not know was refused (`releases/fit.ts`). */
function appliedFields(applied: ChatRequest["applied"]): object {
  const given = Object.entries(applied);
  if (given.length < 2) return applied;
  return Object.fromEntries(given.toSorted(([a], [b]) => orderOf(a) - orderOf(b)));
}

const ORDER = REQUEST_FIELDS.map(([name]): string => name);
const orderOf = (name: string): number => ORDER.indexOf(name);

/** Inline images and files have flat maxima of their own, so their data weighs nothing; everything else about them does. */
const withoutInline = (messages: Messages): Messages =>
  messages.map((message) =>
    Array.isArray(message["content"])
      ? { ...message, content: (message["content"] as ContentPart[]).map(withoutData) }
      : message,
  );

function withoutData(part: ContentPart): ContentPart {
  if (part.type === "file") return { ...part, file: { ...part.file, file_data: "" } };
  if (part.type !== "image_url" || !isInlineImage(part.image_url.url)) return part;
  return { ...part, image_url: { ...part.image_url, url: "" } };
}

/** Short words of the gateway's own and of closed lists, which no model reads. Everything that is not listed counts. */
const SETTINGS: ReadonlySet<string> = new Set([
  ...REQUEST_FIELDS.flatMap(([name, { setting }]) => (setting === true ? [name] : [])),
  "thinking",
]);

/** Texts as they are; anything with a structure as its JSON text without escapes. A message's own frame is its overhead. */
function plainText(messages: Messages, fields: Fields): string {
  const texts: string[] = [];
  for (const [name, value] of Object.entries(fields))
    if (!SETTINGS.has(name) && (typeof value === "string" || typeof value === "object"))
      texts.push(unescaped(value));
  for (const message of messages)
    for (const name of Object.keys(message)) {
      const value = message[name];
      if (name !== "role" && value !== null) texts.push(typeof value === "string" ? value : unescaped(value));
    }
  return texts.join("");
}
