// The conversation of a caller's own Messages body as this model takes it. Almost all of it goes as it was written; what came
// from another model on the way — thoughts, ids, citations that no vendor has signed — is what the vendor would refuse.
import { isOurs } from "../../domain/carried-state.ts";
import { isJsonObject } from "../../domain/read-value.ts";
import { CallIds, plainName } from "../call-ids.ts";
import { withoutNulls } from "../without-nulls.ts";

type Json = Record<string, unknown>;

export interface NativeTurns {
  messages: unknown[];
  /** Names of the tools that were called. */
  called: ReadonlySet<string>;
  /** Every block stands where its caller wrote it. */
  places: boolean;
  /** The running round of tools does not begin with a thought: some models may not think in it then. */
  lost: boolean;
}

/** `recalls`: thoughts of earlier turns go along. */
export function nativeTurns(
  messages: readonly unknown[],
  { recalls, systemTurns }: { recalls: boolean; systemTurns: boolean },
): NativeTurns {
  const calls = new RenamedCalls();
  const turns = messages.flatMap((message) => {
    if (!isJsonObject(message)) return [message];
    if (message["role"] === "system") return [systemTurns ? message : asUser(message)];
    const { content } = message;
    if (!Array.isArray(content)) return [message];
    const assistant = message["role"] === "assistant";
    if (assistant) calls.turn();
    const blocks = changed(content, (given) => {
      const block = isJsonObject(given) ? withoutNulls(given) : given;
      return assistant ? saidBlock(block, { recalls, calls }) : calls.answered(block);
    });
    if (blocks.length === 0) return [];
    return [blocks === content ? message : { ...message, content: blocks }];
  });
  const places =
    turns.length === messages.length && turns.every((turn, at) => countOf(turn) === countOf(messages[at]));
  return { messages: turns, called: calls.names, places, lost: roundWithoutThought(turns) };
}

/** Null where it holds a text. */
const countOf = (message: unknown): number | null =>
  isJsonObject(message) && Array.isArray(message["content"]) ? message["content"].length : null;

/** The same list where nothing in it changes. Null takes a block away. */
function changed(content: unknown[], of: (block: unknown) => unknown): unknown[] {
  const blocks = content.map(of);
  if (blocks.every((block, at) => block === content[at])) return content;
  return blocks.filter((block) => block !== null);
}

/** The word of whoever runs the conversation, for models that know no such turn. */
const asUser = (message: Json): Json => ({
  ...message,
  role: "user",
  content: [{ type: "text", text: `<system>\n${wordsOf(message["content"])}\n</system>` }],
});

const wordsOf = (content: unknown): string =>
  Array.isArray(content)
    ? content.map((block) => (isJsonObject(block) ? String(block["text"]) : "")).join("\n\n")
    : String(content);

function saidBlock(block: unknown, { recalls, calls }: { recalls: boolean; calls: RenamedCalls }): unknown {
  if (!isJsonObject(block)) return block;
  switch (block["type"]) {
    case "thinking":
      return recalls && isSealed(block["signature"]) ? block : null;
    case "redacted_thinking":
      return recalls && isSealed(block["data"]) ? block : null;
    case "text":
      return saidText(block);
    case "tool_use":
      return calls.made(block);
    default:
      return MEASURED.has(String(block["type"])) ? block : null;
  }
}

/**
 * What the vendor's own searches left in a conversation: text, of which every token has its bytes here. Other tools of its own
 * leave files, whose pages nobody has counted.
 */
const MEASURED: ReadonlySet<string> = new Set([
  "server_tool_use",
  "web_search_tool_result",
  "tool_search_tool_result",
]);

/** Sealed by somebody, and not here. Whether by this vendor it says itself. */
const isSealed = (seal: unknown): boolean => typeof seal === "string" && seal !== "" && !isOurs(seal);

/** No text of blanks, and no page that the vendor did not give. */
function saidText(block: Json): Json | null {
  const { text, citations, ...rest } = block;
  if (typeof text === "string" && text.trim() === "") return null;
  if (!Array.isArray(citations)) return block;
  const theirs = citations.filter(
    (citation) => !isJsonObject(citation) || citation["encrypted_index"] !== "",
  );
  if (theirs.length === citations.length) return block;
  return { ...rest, text, ...(theirs.length > 0 && { citations: theirs }) };
}

/** Calls whose ids or names the vendor would not take, and their answers after them. */
class RenamedCalls {
  readonly names = new Set<string>();
  private readonly ids = new CallIds();
  /** By the caller's id: those of the latest turn that used it, and how many of them were answered. */
  private readonly open = new Map<string, { own: string[]; turn: number; answered: number }>();
  private turns = 0;

  /** A turn of the model begins. */
  turn(): void {
    this.turns += 1;
  }

  made(block: Json): Json {
    const id = String(block["id"]);
    const own = this.ids.next(id);
    const known = this.open.get(id);
    if (known?.turn === this.turns) known.own.push(own);
    else this.open.set(id, { own: [own], turn: this.turns, answered: 0 });
    const name = plainName(String(block["name"]));
    this.names.add(name);
    return own === id && name === block["name"] ? block : { ...block, id: own, name };
  }

  answered(block: unknown): unknown {
    if (!isJsonObject(block) || block["type"] !== "tool_result") return block;
    const call = this.open.get(String(block["tool_use_id"]));
    const own = call?.own[call.answered] ?? call?.own.at(-1);
    if (call === undefined || own === undefined) return block;
    call.answered += 1;
    return own === block["tool_use_id"] ? block : { ...block, tool_use_id: own };
  }
}

const blocksIn = (message: unknown): Json[] =>
  isJsonObject(message) && Array.isArray(message["content"]) ? message["content"].filter(isJsonObject) : [];

function roundWithoutThought(messages: readonly unknown[]): boolean {
  const has = (message: unknown, type: string): boolean =>
    blocksIn(message).some((block) => block["type"] === type);
  const asked = messages.findLastIndex(
    (message) => isJsonObject(message) && message["role"] === "user" && !has(message, "tool_result"),
  );
  const first = messages.slice(asked + 1).find((message) => has(message, "tool_use"));
  const [begins] = blocksIn(first);
  return first !== undefined && !String(begins?.["type"]).endsWith("thinking");
}
