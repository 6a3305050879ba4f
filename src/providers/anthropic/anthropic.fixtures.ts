// What the tests of this directory share.
import { providerOver } from "../http/http.fixtures.ts";
import type { Part, Provider } from "../provider.ts";
import { type ClaudeAccount, claudeCodec } from "./codec.ts";
import { ClaudeReader } from "./reader.ts";

/** Returns an adapter for an address, with limits that are not reached. */
export const claudeAt = (baseUrl: string, account: Partial<ClaudeAccount> = {}): Provider =>
  providerOver(
    claudeCodec({
      envelope: "direct",
      own: {},
      contract: {},
      authorize: () => ({ "x-api-key": "provider-key" }),
      ...account,
    }),
    baseUrl,
    { name: "claude" },
  );

/** Returns the parts of a stream of these events. */
export function heardOf(events: readonly object[]): Part[] {
  const reader = new ClaudeReader();
  const parts: Part[] = [];
  for (const event of events) {
    const end = reader.event(JSON.stringify(event), parts);
    if (end === "done") break;
    if (end !== null) throw new Error(`an error: ${end.code}`);
  }
  reader.close(parts);
  return parts;
}

export const started = (usage: object = { input_tokens: 10, output_tokens: 1 }): object => ({
  type: "message_start",
  message: { id: "msg_1", type: "message", role: "assistant", content: [], stop_reason: null, usage },
});
export const began = (index: number, content_block: object): object => ({
  type: "content_block_start",
  index,
  content_block,
});
export const grew = (index: number, delta: object): object => ({ type: "content_block_delta", index, delta });
export const ended = (index: number): object => ({ type: "content_block_stop", index });
export const finished = (
  stop_reason: string,
  also: object = {},
  usage: object = { output_tokens: 5 },
): object => ({
  type: "message_delta",
  delta: { stop_reason, stop_sequence: null, ...also },
  usage,
});
export const STOPPED = { type: "message_stop" };
