// A caller's own body is sent untouched if this model accepts it; otherwise it is changed as little as possible.
import { describe, expect, test } from "bun:test";
import { UNSIGNED } from "../../domain/carried-state.ts";
import type { ChatRequest } from "../../domain/chat-request.ts";
import type { Price } from "../../domain/price.ts";
import { printNumber } from "../../domain/print.ts";
import { promptBound } from "../../pricing/quote.ts";
import { callDraft, chatRequest } from "../openai/openai.fixtures.ts";
import type { CallDraft, OutgoingBody } from "../provider.ts";
import { nativeClaudeBody } from "./native-body.ts";
import { DIRECT } from "./request-body.fixtures.ts";
import type { ClaudeDialect } from "./request-body.ts";
import { printedText } from "../printed-text.fixtures.ts";

type Body = Record<string, unknown>;
interface How extends Partial<CallDraft> {
  model?: string;
  request?: ChatRequest;
  headers?: Record<string, string>;
  versionInBody?: string;
  dialect?: Partial<ClaudeDialect>;
  price?: Partial<Price>;
}

const { release } = callDraft();

function prepared(body: Body, how: How = {}): OutgoingBody {
  const { model = "claude-opus-4-8", headers = {}, versionInBody = null, dialect, price, ...draft } = how;
  const native = { shape: "anthropic-messages", body, headers, only: null } as const;
  return nativeClaudeBody(
    callDraft({
      reasoningEffort: "medium",
      temperature: null,
      request: { ...chatRequest(), reasoning: null, ...how.request, native },
      ...draft,
      release: {
        ...release,
        upstreamModel: model,
        reasoning: { modes: ["none", "medium"], default: "medium" },
        price: { ...release.price, ...price },
      },
    }),
    native,
    { ...DIRECT, versionInBody, ...dialect },
  );
}

const sent = (body: Body, how: How = {}, ceiling = 4096): Body =>
  JSON.parse(printedText(prepared(body, how), ceiling)) as Body;

const HI = { role: "user", content: "Hi" };
const SIMPLE = { model: "public-1", max_tokens: 9, messages: [HI] };
const PRICED = { price: { cacheWrite: 1n, cacheWrite1h: 1n } as unknown as Partial<Price> };
const thought = (signature: unknown) => ({ type: "thinking", thinking: "Hm.", signature });
const use = (id: string, name = "weather") => ({ type: "tool_use", id, name, input: { city: "Oslo" } });
const result = (tool_use_id: string) => ({ type: "tool_result", tool_use_id, content: "rain" });
const tools = [{ name: "weather", input_schema: { type: "object" } }];
const round = (...content: object[]) => [
  HI,
  { role: "assistant", content },
  { role: "user", content: [result("toolu_1")] },
];

test("schemas and arguments keep numbers that no double holds", () => {
  const numbers = { id: printNumber("175928847299117063") };
  const call = { ...use("toolu_1"), input: numbers };
  const [tool] = tools;
  const typed = [{ ...tool, input_schema: { type: "object", properties: numbers } }];
  const said = prepared({ ...SIMPLE, tools: typed, messages: round(call) });
  expect(printedText(said, 64).match(/"id":175928847299117063/g)).toHaveLength(2);
});

test("order and unknown members go as they were written; model, maximum and thinking are ours", () => {
  const body = {
    new_field: { b: 1, a: [2] },
    messages: [{ role: "user", content: [{ type: "text", text: "Hi", new_member: true }] }],
    max_tokens: 99999,
    tools: [{ ...tools[0], defer_loading: true }],
    model: "public-1",
    thinking: { type: "adaptive", display: "omitted" },
    output_config: { effort: "medium", later: 1 },
    context_management: { edits: [] },
    system: null,
  };
  expect(printedText(prepared(body), 4096)).toBe(
    `{"new_field":{"b":1,"a":[2]},"messages":${JSON.stringify(body.messages)},"tools":${JSON.stringify(body.tools)}` +
      `,"model":"claude-opus-4-8","output_config":{"later":1,"effort":"medium"},"context_management":{"edits":[]}` +
      `,"max_tokens":4096,"thinking":{"type":"adaptive","display":"omitted"}}`,
  );
});

test("where the model stands in the path, the version stands in the body", () => {
  const body = sent(SIMPLE, { versionInBody: "vertex-2023-10-16" });
  expect([body["model"], body["anthropic_version"]]).toEqual([undefined, "vertex-2023-10-16"]);
});

test("identifiers leave as keyed hashes, and nothing else of the metadata does", () => {
  const metadata = { user_id: "alice", more: 1 };
  expect(sent({ ...SIMPLE, metadata }, { identifiers: { user: "hash" } })["metadata"]).toEqual({
    user_id: "hash",
  });
  expect(sent({ ...SIMPLE, metadata: {} })["metadata"]).toBeUndefined();
});

test("who says nothing about thinking is asked for nothing", () => {
  expect(sent(SIMPLE)["thinking"]).toBeUndefined();
  expect(sent(SIMPLE, { model: "claude-sonnet-4-5" })["thinking"]).toBeUndefined();
  const bound = { ...SIMPLE, thinking: { block_binding: { prefix_mismatch_behavior: "error" } } };
  expect(sent(bound)).toEqual(sent(SIMPLE));
});

describe("thinking written for one generation, on another", () => {
  const enabled = { ...SIMPLE, thinking: { type: "enabled", budget_tokens: 8000 } };
  const adaptive = { ...SIMPLE, thinking: { type: "adaptive" }, output_config: { effort: "medium" } };

  test("a budget stays below the ceiling, and is none where that leaves too little", () => {
    const budget = (ceiling: number) => sent(enabled, { model: "claude-sonnet-4-5" }, ceiling)["thinking"];
    expect(budget(20_000)).toEqual({ type: "enabled", budget_tokens: 8000 });
    expect(budget(4096)).toEqual({ type: "enabled", budget_tokens: 3891 });
    expect(budget(1024)).toBeUndefined();
  });

  test("a budget becomes an effort where the model decides, and an effort a budget where it does not", () => {
    const effort = sent(enabled);
    expect([effort["thinking"], effort["output_config"]]).toEqual([
      { type: "adaptive", display: "summarized" },
      { effort: "medium" },
    ]);
    const old = sent(adaptive, { model: "claude-sonnet-4-5" });
    expect([old["thinking"], old["output_config"]]).toEqual([
      { type: "enabled", budget_tokens: 2048 },
      undefined,
    ]);
    expect(prepared(adaptive, { model: "claude-sonnet-4-5" }).ignored).toEqual(["output_config.effort"]);
  });

  test("a budget is none in a round of tools that does not begin with its thought", () => {
    const how = { model: "claude-sonnet-4-5" };
    const lost = { ...enabled, tools, messages: round(use("toolu_1")) };
    expect(sent(lost, how)["thinking"]).toBeUndefined();
    const kept = { ...enabled, tools, messages: round(thought("sig"), use("toolu_1")) };
    expect(sent(kept, how)["thinking"]).toBeDefined();
  });

  test("what a model cannot be told about sampling is left out and named", () => {
    const body = { ...SIMPLE, temperature: 0.5, top_p: 0.5, top_k: 3 };
    const request = { ...chatRequest(), temperature: 0.5, forwarded: { top_p: 0.5 } };
    const how = { request, temperature: 0.5 };
    expect(Object.keys(sent(body, how))).toEqual(["model", "messages", "max_tokens"]);
    expect(prepared(body, how).ignored).toEqual(["temperature", "top_p", "top_k"]);
    const either = sent(body, { ...how, model: "claude-sonnet-4-5" });
    expect([either["temperature"], either["top_p"], either["top_k"]]).toEqual([0.5, undefined, 3]);
  });

  test("a model that cannot be made to call is not asked to, and it is said", () => {
    const request = { ...chatRequest(), toolChoice: "required" as const };
    expect(() => prepared({ ...SIMPLE, tools }, { model: "claude-opus-5-5", request })).toThrow(
      "tool_choice",
    );
  });
});

describe("a conversation that began elsewhere", () => {
  test("thoughts that nobody or we have sealed stay behind; those of the vendor go as they came", () => {
    const seen = round(
      thought(UNSIGNED),
      thought(""),
      thought(undefined),
      { type: "redacted_thinking", data: "tollgate:state:e30" },
      thought("sig"),
      { type: "redacted_thinking", data: "sealed" },
      { type: "text", text: " " },
      use("toolu_1"),
    );
    const { messages } = sent({ ...SIMPLE, tools, messages: seen }) as { messages: { content: unknown }[] };
    expect(messages[1]?.content).toEqual([
      thought("sig"),
      { type: "redacted_thinking", data: "sealed" },
      use("toolu_1"),
    ]);
  });

  test("what the vendor's searches left goes along; what may hold files that nobody counted does not", () => {
    const searched = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} };
    const found = { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] };
    const source = { type: "base64", media_type: "application/pdf", data: "A".repeat(4000) };
    const fetched = {
      type: "web_fetch_tool_result",
      content: { type: "web_fetch_result", content: { type: "document", source } },
    };
    const said = { type: "text", text: "So." };
    const seen = [HI, { role: "assistant", content: [searched, found, fetched, said] }, HI];
    const { messages } = sent({ ...SIMPLE, messages: seen }) as { messages: { content: unknown }[] };
    expect(messages[1]?.content).toEqual([searched, found, said]);
  });

  test("a turn of nothing but foreign thoughts is none", () => {
    const seen = [HI, { role: "assistant", content: [thought(UNSIGNED)] }, HI];
    expect(sent({ ...SIMPLE, messages: seen })["messages"]).toEqual([HI, HI]);
  });

  test("ids and names that the vendor would refuse are others, in call and result alike", () => {
    const seen = [
      HI,
      { role: "assistant", content: [use("functions.weather:0", "my.tool"), use("functions.weather:0")] },
      { role: "user", content: [result("functions.weather:0"), result("functions.weather:0")] },
    ];
    const body = sent({ ...SIMPLE, tools, messages: seen });
    const [, said, heard] = body["messages"] as {
      content: { id: string; tool_use_id: string; name: string }[];
    }[];
    const ids = said?.content.map(({ id }) => id) ?? [];
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(heard?.content.map(({ tool_use_id }) => tool_use_id)).toEqual(ids);
    expect(said?.content[0]?.name).toBe("my_tool");
  });

  test("pages that no vendor gave are no citations", () => {
    const cited = (encrypted_index: string) => ({ type: "web_search_result_location", encrypted_index });
    const seen = [
      HI,
      { role: "assistant", content: [{ type: "text", text: "a", citations: [cited(""), cited("x")] }] },
      HI,
    ];
    const body = sent({ ...SIMPLE, messages: seen });
    expect(JSON.stringify(body["messages"])).toContain(
      '"citations":[{"type":"web_search_result_location","encrypted_index":"x"}]',
    );
  });

  test("a word of whoever runs it stands where it may, and in the user's turn elsewhere", () => {
    const seen = [HI, { role: "system", content: [{ type: "text", text: "Be brief." }] }];
    expect(sent({ ...SIMPLE, messages: seen })["messages"]).toEqual(seen);
    expect(sent({ ...SIMPLE, messages: seen }, { model: "claude-opus-4-7" })["messages"]).toEqual([
      HI,
      { role: "user", content: [{ type: "text", text: "<system>\nBe brief.\n</system>" }] },
    ]);
  });

  test("calls of tools that are not offered any more are described, and not made again", () => {
    const body = sent({ ...SIMPLE, messages: round(use("toolu_1")) });
    expect([body["tools"], body["tool_choice"]]).toEqual([
      [{ name: "weather", input_schema: { type: "object" } }],
      { type: "none" },
    ]);
  });
});

describe("cache marks", () => {
  const mark = (ttl?: string) => ({
    cache_control: { type: "ephemeral", ...(ttl !== undefined && { ttl }), scope: "global" },
  });
  const body = {
    ...SIMPLE,
    tools: [{ ...tools[0], ...mark("1h") }],
    system: [{ type: "text", text: "S", ...mark() }],
    messages: [
      {
        role: "user",
        content: [
          {
            type: "document",
            source: { type: "content", content: [{ type: "text", text: "D", ...mark() }] },
          },
        ],
      },
    ],
    cache_control: mark().cache_control,
  };

  test("go as they were written where writing is priced, wherever they stand", () => {
    const { max_tokens: _max, model: _model, ...rest } = body;
    expect(sent(body, PRICED)).toMatchObject(rest);
  });

  test("none goes where it is not, and no hour where that is not", () => {
    expect(printedText(prepared(body), 9)).not.toContain("cache_control");
    const minutes = printedText(
      prepared(body, { price: { cacheWrite: 1n } as unknown as Partial<Price> }),
      9,
    );
    expect(minutes).not.toContain('"1h"');
    expect(minutes.split('"cache_control"')).toHaveLength(5);
    expect(body.tools[0]).toHaveProperty("cache_control.ttl", "1h"); // the caller's own body is not modified
  });

  test("none of an hour stands behind one of five minutes, which the vendor refuses", () => {
    const late = {
      ...body,
      tools: [{ ...tools[0], ...mark() }],
      system: [{ type: "text", text: "S", ...mark("1h") }],
    };
    const text = printedText(prepared(late, PRICED), 9);
    expect(text).not.toContain('"1h"');
    expect(text.split('"cache_control"')).toHaveLength(5);
  });

  test("the last four go", () => {
    const blocks = [1, 2, 3, 4, 5].map((n) => ({ type: "text", text: `${n}`, ...mark() }));
    const text = printedText(
      prepared({ ...SIMPLE, messages: [{ role: "user", content: blocks }] }, PRICED),
      9,
    );
    expect(text.split('"cache_control"')).toHaveLength(5);
  });
});

test("names of the header go along that neither cost nor route; the others are named", () => {
  const { headers, ignored } = prepared(SIMPLE, {
    headers: { "anthropic-beta": "context-1m-2025-08-07,context-management-2025-06-27,fast-mode-2026-02-01" },
  });
  expect(headers).toEqual({ "anthropic-beta": "context-management-2025-06-27" });
  expect(ignored).toEqual(["anthropic-beta:context-1m-2025-08-07", "anthropic-beta:fast-mode-2026-02-01"]);
});

test("all that is sent weighs, but for inline bytes; what is counted is never longer", () => {
  const data = "A".repeat(10_000);
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data } };
  const messages = [
    { role: "user", content: [image, { type: "text", text: 'Né\u2028"x"' }] },
    ...round(use("toolu_1")).slice(1, 2),
    { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: [image] }] },
  ];
  const request = { ...chatRequest(), images: 2 };
  const body = prepared({ ...SIMPLE, tools, unknown: "word", messages }, { request });
  const text = printedText(body, 4096);
  expect(body.size.bytes).toBeGreaterThanOrEqual(Buffer.byteLength(text) - 20_000);
  expect(body.size.bytes).toBeLessThan(2000);
  expect(Buffer.byteLength(body.text())).toBeLessThanOrEqual(body.size.bytes);
  expect(body.text()).toContain('Né\u2028"x"');
  expect(body.text()).toContain("word");
  expect(promptBound(body.size, { imageTokensMax: 100, fileTokensMax: null })).toBeGreaterThan(200);
  body.sent();
  expect(printedText(body, 4096)).toBe(text);
});

test("bytes that no image or document holds weigh what they are", () => {
  const data = "A".repeat(9000);
  const odd = { type: "text", text: "x", source: { type: "base64", media_type: "video/mp4", data } };
  const body = prepared(
    { ...SIMPLE, messages: [{ role: "user", content: [odd] }] },
    { request: { ...chatRequest(), images: 1 } },
  );
  expect(body.size.bytes).toBeGreaterThan(9000);
});
