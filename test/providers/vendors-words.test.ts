// Where vendors of the OpenAI shape differ from each other, as sent by the gateway and read back, from each surface:
// fields for thinking, reasoning of earlier turns, the order of turns (providers.md §2; wire.md §8.4, §8.5).
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { DIALECTS, type DialectName } from "../../src/providers/openai/dialects.ts";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";
import { onProvider, PREVIEW_V1, type TestManifest } from "../support/models.ts";
import { chunk, events } from "./scripted.ts";

const VENDORS = ["openai", "deepseek", "moonshot", "mistral", "groq", "openrouter"] as const;
/** Its models want different things. */
const KIMI = ["kimi-k3", "kimi-k2.7-code", "kimi-k2-thinking-turbo", "kimi-k2.6", "kimi-k2.5"] as const;
/** Of the vendor whose calls are waited for. */
const IDLE_MS = 1_000;
type Json = Record<string, unknown>;
interface Sent {
  messages: Json[];
  [field: string]: unknown;
}

let gateway: TestGateway;
let customer: Customer;
let upstream: Bun.Server<undefined>;
let sent: Sent[] = [];
let says: string | ReadableStream<Uint8Array> = "";

const modelOn = (vendor: string, also: Partial<TestManifest> = {}): TestManifest =>
  onProvider({ ...PREVIEW_V1, model: vendor, requires_paid: false }, vendor, also);

beforeAll(async () => {
  upstream = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      sent.push((await request.json()) as Sent);
      const type =
        typeof says === "string" && says.startsWith("{") ? "application/json" : "text/event-stream";
      return new Response(says, { headers: { "content-type": type } });
    },
  });
  gateway = await startGateway({
    models: [
      ...VENDORS.map((vendor) => modelOn(vendor)),
      { ...modelOn("deepseek"), model: "unsaid", reasoning: undefined },
      { ...modelOn("openrouter"), model: "another", upstream_model: "sim-other-1" },
      { ...modelOn("openrouter"), model: "thoughtless", reasoning: undefined },
      ...KIMI.map((name) => ({ ...modelOn("moonshot"), model: name, upstream_model: name })),
      { ...modelOn("moonshot"), model: "kimi-unsaid", upstream_model: "kimi-k2.6", reasoning: undefined },
      {
        ...modelOn("moonshot"),
        model: "moonshot-unsaid",
        upstream_model: "moonshot-v1-128k",
        reasoning: undefined,
      },
    ],
    configure: (config) => {
      const [usual] = config.providers;
      if (usual === undefined) throw new Error("no simulator");
      for (const name of VENDORS)
        config.providers.push({
          ...usual,
          ...(name === "openrouter" && { timeouts: { ...usual.timeouts, idleMs: IDLE_MS } }),
          name,
          baseUrl: `http://127.0.0.1:${upstream.port}/v1`,
          own: { dialect: { ...DIALECTS[name satisfies DialectName], responses: false } },
        });
    },
  });
  customer = await gateway.customer({ usd: "100" });
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
  await upstream.stop(true);
});

const answer = (message: object): string =>
  JSON.stringify({
    choices: [{ index: 0, message, finish_reason: "stop" }],
    usage: { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10 },
  });

async function post(path: string, body: object): Promise<{ json: Json; text: string; headers: Headers }> {
  sent = [];
  const reply = await fetch(`${gateway.url}${path}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      authorization: `Bearer ${customer.secret}`,
      "anthropic-version": "2023-06-01",
    },
    body: JSON.stringify(body),
  });
  const text = await reply.text();
  expect([reply.status, text]).toEqual([200, text]);
  const json = text.startsWith("{") ? (JSON.parse(text) as Json) : {};
  return { json, text, headers: reply.headers };
}

const user = (content = "Hi"): Json => ({ role: "user", content });
const call = (id: string, also: object = {}): Json => ({
  id,
  type: "function",
  function: { name: "look", arguments: "{}" },
  ...also,
});
const chat = async (model: string, messages: Json[], also: object = {}): Promise<Sent> => {
  says = answer({ content: "ok" });
  await post("/v1/chat/completions", { model, messages, max_tokens: 100, ...also });
  const [body] = sent;
  if (body === undefined) throw new Error("nothing was sent");
  return body;
};

describe("a mode of thinking", () => {
  test.each([
    ["deepseek", "high", { thinking: { type: "enabled" }, reasoning_effort: "high" }],
    ["deepseek", "none", { thinking: { type: "disabled" }, reasoning_effort: undefined }],
    ["moonshot", "high", { thinking: { type: "enabled" }, reasoning_effort: undefined }],
    ["moonshot", "none", { thinking: { type: "disabled" }, reasoning_effort: undefined }],
    ["openai", "none", { thinking: undefined, reasoning_effort: "none" }],
    ["groq", "low", { thinking: undefined, reasoning_effort: "low" }],
  ])("%s, %s", async (vendor, effort, words) => {
    const { thinking, reasoning_effort } = await chat(vendor, [user()], { reasoning_effort: effort });
    expect({ thinking, reasoning_effort }).toEqual(words as never);
  });

  test.each(["deepseek", "moonshot"])(
    "is none where a tool is demanded, which %s refuses beside thinking",
    async (vendor) => {
      const tools = [{ type: "function", function: { name: "look" } }];
      const named = { type: "function", function: { name: "look" } };
      const allowed = (mode: string): object => ({
        type: "allowed_tools",
        allowed_tools: { mode, tools: [named] },
      });
      for (const [tool_choice, thinks] of [
        ["required", false],
        [named, false],
        [allowed("required"), false],
        [allowed("auto"), true],
        ["auto", true],
      ] as const) {
        says = answer({ content: "ok" });
        const body = { model: vendor, messages: [user()], tools, tool_choice, reasoning_effort: "high" };
        const { headers } = await post("/v1/chat/completions", body);
        expect(sent[0]?.["thinking"]).toEqual({ type: thinks ? "enabled" : "disabled" });
        expect(headers.get("x-gw-ignored-parameters")).toBe(thinks ? null : "reasoning_effort");
      }
    },
  );

  test("is set by Messages and Responses in the same way; if the release has none, nothing is sent", async () => {
    says = answer({ content: "ok" });
    const off = { thinking: { type: "disabled" } };
    await post("/v1/messages", { model: "deepseek", messages: [user()], max_tokens: 100, ...off });
    expect(sent[0]).toMatchObject({ thinking: { type: "disabled" } });
    await post("/v1/responses", {
      model: "moonshot",
      input: "Hi",
      reasoning: { effort: "low" },
      store: false,
    });
    expect(sent[0]).toMatchObject({ thinking: { type: "enabled" } });
    const unsaid = await chat("unsaid", [user()]);
    expect("thinking" in unsaid || "reasoning_effort" in unsaid).toBe(false);
  });
});

describe("Kimi's models", () => {
  const words = async (
    model: string,
    said: object,
  ): Promise<[thinking: unknown, effort: unknown, named: string | null]> => {
    says = answer({ content: "ok" });
    const body = { model, messages: [user()], max_tokens: 100, ...said };
    const { headers } = await post("/v1/chat/completions", body);
    const [{ thinking, reasoning_effort } = {} as Sent] = sent;
    return [thinking, reasoning_effort, headers.get("x-gw-ignored-parameters")];
  };
  const on = { type: "enabled" };
  const keep = { thinking: { type: "enabled", keep: "all" } };

  test.each<[model: string, said: object, sent: [thinking: unknown, effort: unknown, named: string | null]]>([
    ["kimi-k2.6", { reasoning_effort: "high" }, [on, undefined, null]],
    ["kimi-k2.6", { reasoning_effort: "none" }, [{ type: "disabled" }, undefined, null]],
    ["kimi-k3", { reasoning_effort: "high" }, [undefined, "high", null]],
    ["kimi-k2.7-code", { reasoning_effort: "high" }, [undefined, undefined, null]],
    ["kimi-k2.7-code", { reasoning_effort: "none" }, [undefined, undefined, "reasoning_effort"]],
    ["kimi-k2-thinking-turbo", {}, [undefined, undefined, null]],
    ["kimi-k2.6", keep, [{ ...on, keep: "all" }, undefined, null]],
    [
      "kimi-k2.6",
      { thinking: { keep: "all" }, reasoning_effort: "none" },
      [{ type: "disabled" }, undefined, null],
    ],
    ["kimi-unsaid", { thinking: { keep: "all" } }, [{ ...on, keep: "all" }, undefined, null]],
    ["kimi-unsaid", { thinking: { keep: null } }, [undefined, undefined, null]],
    ["kimi-k2.7-code", keep, [undefined, undefined, null]],
    ["kimi-k2.5", keep, [on, undefined, "thinking.keep"]],
    ["deepseek", keep, [on, "low", "thinking.keep"]],
  ])("%s is told %o in its own words", async (model, said, expected) => {
    const [thinking, effort, named] = await words(model, said);
    expect([thinking, model === "deepseek" ? "low" : effort, named]).toEqual(expected);
  });

  test("another way of keeping thoughts is refused by name", async () => {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${customer.secret}` },
      body: JSON.stringify({
        model: "kimi-k2.6",
        messages: [user()],
        thinking: { type: "enabled", keep: "some" },
      }),
    });
    const { error } = (await response.json()) as { error: { param: string } };
    expect([response.status, error.param]).toEqual([400, "thinking.keep"]);
  });

  test("have a temperature of their own: a caller's is left out and named", async () => {
    const sampling = { temperature: 0.2, top_p: 0.5, presence_penalty: 1 };
    const [, , named] = await words("kimi-k2.6", sampling);
    expect(named).toBe("temperature, top_p, presence_penalty");
    expect(Object.keys(sent[0] ?? {})).not.toContain("temperature");
    expect(sent[0]).not.toHaveProperty("top_p");
    const [, , none] = await words("kimi-k2-thinking-turbo", sampling);
    expect([none, sent[0]?.["temperature"]]).toEqual([null, 0.2]);
  });
});

describe("reasoning of earlier turns", () => {
  const thought = "It is about the weather.";
  const turns = [
    user(),
    { role: "assistant", content: "Hello", reasoning_content: "A greeting." },
    user("Look"),
    { role: "assistant", content: null, tool_calls: [call("aaaaaaaa1")], reasoning_content: thought },
    { role: "tool", tool_call_id: "aaaaaaaa1", content: "rain" },
  ];
  const lost = turns.map(({ reasoning_content: _gone, ...turn }: Json) => turn);
  const goes = async (model: string, messages: Json[], effort?: string): Promise<unknown[]> => {
    const body = await chat(model, messages, effort === undefined ? {} : { reasoning_effort: effort });
    const own = body.messages.filter(({ role }) => role === "assistant");
    return own.map((turn) => turn["reasoning_content"]);
  };

  test("is sent back on every turn, on those with calls, or never", async () => {
    expect(await goes("deepseek", turns, "high")).toEqual(["A greeting.", thought]);
    expect(await goes("moonshot", turns, "low")).toEqual(["A greeting.", thought]);
    expect(await goes("openai", turns, "high")).toEqual([undefined, thought]);
    for (const vendor of ["groq", "mistral"] as const)
      expect(await goes(vendor, turns, "high")).toEqual([undefined, undefined]);
  });

  test("a vendor that refuses a turn without it gets a blank instead, so that no conversation gets stuck", async () => {
    expect(await goes("deepseek", lost, "high")).toEqual([" ", " "]);
    expect(await goes("openai", lost, "high")).toEqual([undefined, undefined]);
  });

  test("a model told not to think gets none; one without modes gets its own back", async () => {
    expect(await goes("deepseek", turns, "none")).toEqual([undefined, undefined]);
    expect(await goes("unsaid", turns)).toEqual(["A greeting.", thought]);
    // It may think, and would refuse a call without thoughts for ever.
    expect(await goes("unsaid", lost)).toEqual([undefined, " "]);
    expect(await goes("kimi-unsaid", lost)).toEqual([undefined, " "]);
    expect(await goes("moonshot-unsaid", lost)).toEqual([undefined, undefined]);
  });

  test("a model that always thinks gets its own back whatever is asked of it", async () => {
    expect(await goes("kimi-k2.7-code", turns, "none")).toEqual(["A greeting.", thought]);
    expect(await goes("kimi-k2.7-code", lost, "none")).toEqual([" ", " "]);
  });

  test("also if Messages carries it", async () => {
    says = answer({ content: "ok" });
    const thinking = { type: "thinking", thinking: thought, signature: "tollgate:unsigned" };
    const use = { type: "tool_use", id: "toolu_1", name: "look", input: {} };
    await post("/v1/messages", {
      model: "deepseek",
      max_tokens: 100,
      messages: [
        user(),
        { role: "assistant", content: [thinking, use] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "rain" }] },
      ],
      tools: [{ name: "look", input_schema: { type: "object" } }],
    });
    expect(sent[0]?.messages[1]).toMatchObject({ reasoning_content: thought });
  });
});

test("texts are joined if a list of them is refused; with images they stay a list", async () => {
  const texts = (...list: string[]): object[] => list.map((text) => ({ type: "text", text }));
  const image = { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } };
  const turns = [
    { role: "system", content: texts("Be brief.", "Be kind.") },
    { role: "user", content: texts("Hi") },
    { role: "assistant", content: texts("Let me ", "look."), tool_calls: [call("aaaaaaaa1")] },
    { role: "tool", tool_call_id: "aaaaaaaa1", content: texts("rain", "and sun") },
    { role: "user", content: [...texts("What is it?"), image] },
  ];
  const contents = async (vendor: string): Promise<unknown[]> =>
    (await chat(vendor, turns)).messages.map(({ content }) => content);
  const asOne = ["Be brief.\n\nBe kind.", "Hi", "Let me look.", "rain\nand sun", turns[4]?.content];
  expect(await contents("deepseek")).toEqual(asOne);
  expect(await contents("groq")).toEqual(asOne);
  expect(await contents("openai")).toEqual(turns.map(({ content }) => content));
});

test("a call without arguments is sent back with an empty object, which upstreams can parse", async () => {
  const silent = { id: "aaaaaaaa1", type: "function", function: { name: "look", arguments: "" } };
  const result = { role: "tool", tool_call_id: "aaaaaaaa1", content: "rain" };
  for (const vendor of VENDORS) {
    const body = await chat(vendor, [
      user(),
      { role: "assistant", content: null, tool_calls: [silent] },
      result,
    ]);
    expect(body.messages[1]?.["tool_calls"]).toMatchObject([{ function: { name: "look", arguments: "{}" } }]);
  }
});

describe("strict turns", () => {
  const ids = ({ messages }: Sent): unknown[] =>
    messages.flatMap(({ tool_calls: calls, tool_call_id: id }) => [
      ...((calls ?? []) as Json[]).map((one) => one["id"]),
      ...(id === undefined ? [] : [id]),
    ]);
  const roles = ({ messages }: Sent): unknown[] => messages.map(({ role }) => role);
  const called = { role: "assistant", content: null, tool_calls: [call("call_abcdefghijklmnop")] };
  const result = { role: "tool", tool_call_id: "call_abcdefghijklmnop", content: "rain" };

  test("a user's message follows a turn of the assistant, not of a tool", async () => {
    const turns = [user(), called, result, user("And now?")];
    const strict = await chat("mistral", turns);
    expect(roles(strict)).toEqual(["user", "assistant", "tool", "assistant", "user"]);
    expect(strict.messages.at(-2)?.["content"]).toBeString();
    expect(roles(await chat("openai", turns))).toEqual(["user", "assistant", "tool", "user"]);
  });

  test("ids of calls are nine letters and digits, the same for call and result; the vendor's own stay unchanged", async () => {
    const own = { role: "assistant", content: null, tool_calls: [call("D681PevKs")] };
    const turns = [user(), own, { ...result, tool_call_id: "D681PevKs" }, called, result];
    const [first, second, third, fourth] = ids(await chat("mistral", turns)) as string[];
    expect([first, second]).toEqual(["D681PevKs", "D681PevKs"]);
    expect(third).toMatch(/^[A-Za-z0-9]{9}$/);
    expect(fourth).toBe(third as string);
    expect(ids(await chat("openai", turns))).toContain("call_abcdefghijklmnop");
  });

  test("results follow the calls directly, in their order", async () => {
    const two = { ...called, tool_calls: [call("aaaaaaaa1"), call("aaaaaaaa2")] };
    const tool = (id: string): Json => ({ role: "tool", tool_call_id: id, content: id });
    const strict = await chat("mistral", [user(), two, tool("aaaaaaaa2"), user("Well?"), tool("aaaaaaaa1")]);
    expect(roles(strict)).toEqual(["user", "assistant", "tool", "tool", "assistant", "user"]);
    expect(strict.messages.slice(2, 4).map(({ content }) => content)).toEqual(["aaaaaaaa1", "aaaaaaaa2"]);
  });

  test("system messages after an answer become the user's; a final assistant message is one to continue", async () => {
    const system = { role: "system", content: "Be brief." };
    const answered = { role: "assistant", content: "Hello" };
    const strict = await chat("mistral", [system, user(), answered, system, user(), answered]);
    expect(roles(strict)).toEqual(["system", "user", "assistant", "user", "user", "assistant"]);
    expect(strict.messages.map(({ prefix }) => prefix)).toEqual([...Array(5).fill(undefined), true]);
  });

  test("unknown members are left out; a refusal becomes text", async () => {
    const refused = { role: "assistant", content: null, refusal: "No." };
    const strict = await chat("mistral", [{ ...user(), name: "Ada" }, refused, user()]);
    expect(strict.messages).toEqual([user(), { role: "assistant", content: "No." }, user()]);
  });

  test("inserted text costs its tokens: the prompt is bounded by the body that is sent", async () => {
    says = answer({ content: "ok" });
    const turns = [user(), called, result, user()];
    const quote = { messages: turns, max_tokens: 1, reasoning_effort: "none" };
    const boundOf = async (model: string): Promise<number> =>
      Number((await post("/v1/chat/completions/quote", { model, ...quote })).json["prompt_tokens_max"]);
    const bridge = JSON.stringify({ role: "assistant", content: "Understood." }).length;
    expect((await boundOf("mistral")) - (await boundOf("groq"))).toBeGreaterThanOrEqual(bridge - 40);
  });
});

describe("reasoning_details", () => {
  const details = [
    {
      type: "reasoning.text",
      text: "Let me look.",
      signature: "c2ln",
      format: "anthropic-claude-v1",
      index: 0,
    },
    { type: "reasoning.encrypted", data: "c2VhbGVk", id: "call_1", format: "google-gemini-v1", index: 1 },
  ];
  const pieces = [
    { type: "reasoning.text", text: "Let me ", format: "anthropic-claude-v1", index: 0 },
    { type: "reasoning.text", text: "look.", signature: null, format: "anthropic-claude-v1", index: 0 },
    { type: "reasoning.text", signature: "c2ln", format: "anthropic-claude-v1", index: 0 },
  ];
  const first = { index: 0, id: "call_1", type: "function", function: { name: "look", arguments: "" } };
  const usage = { choices: [], usage: { prompt_tokens: 9, completion_tokens: 7, total_tokens: 16 } };
  /** The sealed one comes after the call to which it belongs. */
  const streamed = events(
    ...pieces.map((one) => chunk({ role: "assistant", content: "", reasoning_details: [one] })),
    chunk({ tool_calls: [first] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: '{"a":1}' } }] }),
    chunk({ reasoning_details: [details[1]] }),
    chunk({}, "tool_calls"),
    usage,
    "[DONE]",
  );
  const whole = answer({
    content: null,
    reasoning: "Let me look.",
    reasoning_details: details,
    tool_calls: [call("call_1")],
  });
  const tool = { type: "function", function: { name: "look", parameters: { type: "object" } } };
  const asked = { model: "openrouter", max_tokens: 100, messages: [user()], tools: [tool] };

  async function sentBack(model: string, calls: unknown): Promise<Json> {
    const result = { role: "tool", tool_call_id: "call_1", content: "rain" };
    const turn = { role: "assistant", content: null, tool_calls: calls, reasoning_content: "Let me look." };
    const body = await chat(model, [user(), turn, result], { tools: [tool] });
    return body.messages[1] ?? {};
  }

  test("are passed on with the call and come back unchanged, in a body", async () => {
    says = whole;
    const { json } = await post("/v1/chat/completions", asked);
    const [{ message }] = json["choices"] as [{ message: { tool_calls: Json[] } }];
    const turn = await sentBack("openrouter", message.tool_calls);
    expect(turn["reasoning_details"]).toEqual(details);
    expect(turn).not.toHaveProperty("reasoning_content");
    expect(turn["tool_calls"]).toEqual([call("call_1")]);
  });

  test("and in a stream, whatever came after the call", async () => {
    says = streamed;
    const { text } = await post("/v1/chat/completions", { ...asked, stream: true });
    const begun = /"delta":(\{"tool_calls":\[.*?\]\}),"logprobs"/.exec(text)?.[1] ?? "{}";
    const [told] = (JSON.parse(begun) as { tool_calls: Json[] }).tool_calls;
    expect(text).toContain(`"reasoning_content":"Let me "`);
    expect(text).toContain(String.raw`"arguments":"{\"a\":1}"`);
    const turn = await sentBack("openrouter", [call("call_1", { extra_content: told?.["extra_content"] })]);
    expect(turn["reasoning_details"]).toEqual(details);
  });

  test("go to no other model, and none are made up", async () => {
    says = whole;
    const { json } = await post("/v1/chat/completions", asked);
    const [{ message }] = json["choices"] as [{ message: { tool_calls: Json[] } }];
    const other = await sentBack("another", message.tool_calls);
    expect(other).not.toHaveProperty("reasoning_details");
    expect(JSON.stringify(other)).not.toContain("c2VhbGVk");
    const plain = await sentBack("openrouter", [call("call_1")]);
    expect(plain).not.toHaveProperty("reasoning_details");
    expect(plain["reasoning_content"]).toBe("Let me look.");
  });

  test("a model told not to think is not waited for: its calls are streamed as they come", async () => {
    says = inTwo();
    const { text } = await post("/v1/chat/completions", { ...asked, reasoning_effort: "none", stream: true });
    expect(text).toContain('"arguments":""');
    expect(text).toContain("c2ln");
    expect(text).not.toContain("c2VhbGVk");
  });

  /** The part after the call arrives by itself. */
  const inTwo = (): ReadableStream<Uint8Array> => {
    const behind = streamed.lastIndexOf("data: ", streamed.indexOf("c2VhbGVk"));
    const pieces = [streamed.slice(0, behind), streamed.slice(behind)];
    return new ReadableStream({
      async pull(controller) {
        const next = pieces.shift();
        if (next === undefined) return controller.close();
        controller.enqueue(Buffer.from(next));
        await Bun.sleep(IDLE_MS / 4);
      },
    });
  };

  test("a model without modes may think: what comes after its calls is not lost", async () => {
    says = inTwo();
    const { text } = await post("/v1/chat/completions", { ...asked, model: "thoughtless", stream: true });
    const begun = /"delta":(\{"tool_calls":\[.*?\]\}),"logprobs"/.exec(text)?.[1] ?? "{}";
    const [told] = (JSON.parse(begun) as { tool_calls: Json[] }).tool_calls;
    const turn = await sentBack("thoughtless", [call("call_1", { extra_content: told?.["extra_content"] })]);
    expect(turn["reasoning_details"]).toEqual(details);
  });

  test("waiting for a call is no silence: its pieces show that the model is at work", async () => {
    const piece = { index: 0, function: { arguments: "1" } };
    const list = [
      chunk({ role: "assistant", reasoning_details: [pieces[0]] }),
      chunk({ tool_calls: [first] }),
      ...Array.from({ length: 6 }, () => chunk({ tool_calls: [piece] })),
      chunk({}, "tool_calls"),
      usage,
    ];
    says = new ReadableStream({
      async pull(controller) {
        const next = list.shift();
        if (next === undefined) return controller.close();
        controller.enqueue(Buffer.from(events(next)));
        await Bun.sleep(IDLE_MS / 5);
      },
    });
    const { text } = await post("/v1/chat/completions", { ...asked, stream: true });
    expect(text).toContain('"arguments":"111111"');
    expect(text).not.toContain('"error"');
  });

  test.each([true, false])("Messages brings them back, streamed %p", async (stream) => {
    says = stream ? streamed : whole;
    const tools = [{ name: "look", input_schema: { type: "object" } }];
    const body = { model: "openrouter", max_tokens: 100, messages: [user()], tools };
    const { json, text } = await post("/v1/messages", { ...body, stream });
    const sealed = /"data":"(tollgate:state:[^"]*)"/.exec(text)?.[1] ?? "";
    const content = stream
      ? [
          { type: "redacted_thinking", data: sealed },
          { type: "tool_use", id: "call_1", name: "look", input: { a: 1 } },
        ]
      : json["content"];
    const result = [{ type: "tool_result", tool_use_id: "call_1", content: "rain" }];
    says = answer({ content: "ok" });
    await post("/v1/messages", {
      ...body,
      messages: [user(), { role: "assistant", content }, { role: "user", content: result }],
    });
    expect(sent[0]?.messages[1]?.["reasoning_details"]).toEqual(details);
  });

  test.each([true, false])("and Responses, streamed %p", async (stream) => {
    says = stream ? streamed : whole;
    const tools = [{ type: "function", name: "look", parameters: { type: "object" } }];
    const include = ["reasoning.encrypted_content"];
    const body = { model: "openrouter", input: "Hi", store: false, tools, include };
    const { json, text } = await post("/v1/responses", { ...body, stream });
    const last = /^data: (\{"type":"response.completed".*)$/m.exec(text)?.[1];
    const told = stream ? (JSON.parse(last ?? "{}") as { response: Json }).response : json;
    const output = { type: "function_call_output", call_id: "call_1", output: "rain" };
    says = answer({ content: "ok" });
    await post("/v1/responses", { ...body, input: [user(), ...(told["output"] as Json[]), output] });
    expect(sent[0]?.messages[1]?.["reasoning_details"]).toEqual(details);
  });
});
