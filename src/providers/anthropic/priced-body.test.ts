import { expect, test } from "bun:test";
import fc from "fast-check";
import type { ChatRequest } from "../../domain/chat-request.ts";
import { ANY, anyRequest, isPricedAsSent } from "../priced-body.fixtures.ts";
import { prepared } from "./request-body.fixtures.ts";
import { printedText } from "../printed-text.fixtures.ts";

const thought = fc.oneof(
  fc.record({
    type: fc.constant("thinking"),
    thinking: ANY.word,
    signature: ANY.word,
    after: fc.nat({ max: 20 }).map(String),
  }),
  fc.record({ type: fc.constant("redacted_thinking"), data: ANY.word }),
);
const extra = fc.record({ anthropic: fc.record({ thinking: fc.array(thought, { maxLength: 3 }) }) });
const how = fc.record({
  model: fc.constantFrom("claude-haiku-4-5", "claude-opus-4-6", "claude-opus-5-5", "ours"),
  reasoningEffort: fc.constantFrom(null, "none", "low", "max", "20000"),
});

interface Sent {
  system?: { text: string }[];
  messages: { role: string; content: Record<string, unknown>[] }[];
  [name: string]: unknown;
}

const settled = (request: Partial<ChatRequest>, given: Parameters<typeof prepared>[1]) =>
  prepared(request, { identifiers: { user: "u".repeat(43) }, ...given });

isPricedAsSent({
  extra,
  remoteImages: true,
  how,
  prepare: settled,
  weightless: "data",
  slack: 80,
  ceilingOf: ({ max_tokens: ceiling }) => ceiling,
  read({ system = [], messages, tools, output_config: output, stop_sequences: stops }) {
    const contents = (messages as Sent["messages"]).map(({ content }) => content);
    return [system, contents, tools, output, stops];
  },
  frame: "type text image document tool_use tool_result",
});

test("what goes out keeps the vendor's rules, whatever comes in", () => {
  fc.assert(
    fc.property(anyRequest({ extra, remoteImages: true }), how, (request, given) => {
      const {
        messages,
        system = [],
        max_tokens,
        thinking,
        ...rest
      } = JSON.parse(printedText(settled(request, given), 4096)) as Sent;
      expect(messages.length).toBeGreaterThan(0);
      const open = new Set<unknown>();
      const ids = new Set<unknown>();
      for (const [at, { role, content }] of messages.entries()) {
        expect(role).toBe(at % 2 === 0 ? "user" : "assistant");
        expect(content.length).toBeGreaterThan(0);
        const results = content.filter(({ type }) => type === "tool_result");
        expect(content.slice(0, results.length)).toEqual(results);
        expect(new Set(results.map((one) => one["tool_use_id"]))).toEqual(new Set(open));
        expect(results).toHaveLength(open.size);
        open.clear();
        for (const { type, id } of content)
          if (type === "tool_use") {
            expect(ids.has(id)).toBe(false);
            ids.add(id);
            open.add(id);
          }
      }
      expect(messages.length % 2).toBe(1);
      for (const block of [...system, ...messages.flatMap(({ content }) => content)])
        if ("text" in block) expect(String(block.text).trim()).not.toBe("");
      const { budget_tokens: budget } = (thinking ?? {}) as { budget_tokens?: number };
      if (budget !== undefined) {
        expect(budget).toBeGreaterThanOrEqual(1024);
        expect(budget).toBeLessThan(Number(max_tokens));
      }
      if (ids.size > 0) expect(rest).toHaveProperty("tools");
    }),
  );
});
