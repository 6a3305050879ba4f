// The conversation of a caller's own Messages body as this model accepts it. Almost all of it is sent as it was
// written. Changed is only what came from another model on the way (thoughts, ids, citations that no vendor signed),
// which the vendor would reject.
import { isOurs } from "../../domain/carried-state.ts";
import { isJsonObject } from "../../domain/read-value.ts";
import { CallIds, plainName } from "../call-ids.ts";
import { withoutNulls } from "../without-nulls.ts";

type Json = Record<string, unknown>;

export interface NativeTurns {
  messages: unknown[];
  /** Names of the tools that were called. */
  called: ReadonlySet<string>;
  /** True if every block is still where its caller wrote it. */
  places: boolean;
  /** True if the current tool round does not begin with a thought; some models must not think in it then. */
  lost: boolean;
}

/** `recalls`: thoughts of earlier turns are sent along. */
export function nativeTurns(
  messages: readonly unknown[],
  { recalls, systemTurns }: { recalls: boolean; systemTurns: boolean },
): NativeTurns {
  const calls = new RenamedCalls();
  const turns = messages.flatMap((message) => {
    if (!isJsonObject(message)) return [message];
    if (message["role"] === "system") return systemTurns ? [message] : asUser(message);
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

/** The number of blocks; null if the content is a text. */
const countOf = (message: unknown): number | null =>
  isJsonObject(message) && Array.isArray(message["content"]) ? message["content"].length : null;

/** Maps the blocks; returns the same list if none changes. Null removes a block. */
function changed(content: unknown[], of: (block: unknown) => unknown): unknown[] {
  const blocks = content.map(of);
  if (blocks.every((block, at) => block === content[at])) return content;
  return blocks.filter((block) => block !== null);
}

/** A system message within the conversation, for models without such turns. */
function asUser({ content }: Json): Json[] {
  const words = wordsOf(content);
  const said = { type: "text", text: `<system>\n${words}\n</system>` };
  return words === "" ? [] : [{ role: "user", content: [said] }];
}

/** Blocks that change which tools are offered have no text. */
const wordsOf = (content: unknown): string =>
  Array.isArray(content)
    ? content
        .flatMap((block) => (isJsonObject(block) && block["type"] === "text" ? [String(block["text"])] : []))
        .join("\n\n")
    : typeof content === "string"
      ? content
      : "";

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
 * What the vendor's own searches left in a conversation: text, all of whose bytes are here to be counted. The
 * vendor's other tools leave files, whose pages nobody has counted.
 */
const MEASURED: ReadonlySet<string> = new Set([
  "server_tool_use",
  "web_search_tool_result",
  "tool_search_tool_result",
]);

/** True if somebody else sealed it. Whether it was this vendor, only the vendor can tell. */
const isSealed = (seal: unknown): boolean => typeof seal === "string" && seal !== "" && !isOurs(seal);

/** Drops blank text, and citations that the vendor did not make. */
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

/** Renames calls whose ids or names the vendor would not accept, and their answers accordingly. */
class RenamedCalls {
  readonly names = new Set<string>();
  private readonly ids = new CallIds();
  /** By the caller's id: the calls of the latest turn that used it, and how many of them were answered. */
  private readonly open = new Map<string, { own: string[]; turn: number; answered: number }>();
  private turns = 0;

  /** Called when a turn of the model begins. */
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
