// Clients that send an answer back in full: each member that the answer left out is then null, as with `model_dump`
// of the Python SDKs (members as of openai 2.54 and anthropic 2.14). Whatever shape the upstream speaks, the
// conversation continues.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { addFaces } from "../support/faces.ts";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";
import { ON_EVERY_SHAPE, onProvider, PREVIEW_V1 } from "../support/models.ts";

type Json = Record<string, unknown>;

const ON_BEDROCK = onProvider(
  { ...PREVIEW_V1, model: "on-converse", upstream_model: "anthropic.claude-opus-4-5" },
  "aws",
);
const MODELS = [...ON_EVERY_SHAPE, ON_BEDROCK];

let gateway: TestGateway;
let customer: Customer;
beforeAll(async () => {
  gateway = await startGateway({ models: MODELS, configure: addFaces });
  customer = await gateway.customer({ usd: "100" });
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
});

async function ask(path: string, body: Json): Promise<Json> {
  const reply = await fetch(`${gateway.baseUrl}/${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${customer.secret}`,
      "content-type": "application/json",
      "anthropic-version": "2023-06-01",
    },
    body: JSON.stringify(body),
  });
  const answer = (await reply.json()) as Json;
  expect([reply.status, answer["error"] ?? null]).toEqual([200, null]);
  return answer;
}

const nulls = (...names: string[]): Json => Object.fromEntries(names.map((name) => [name, null]));
const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const said = "Use get_weather";

/** For Responses, by the type of an item or of a part. */
const UNSET: Readonly<Record<string, Json>> = {
  function_call: nulls("id", "caller", "namespace", "status"),
  reasoning: nulls("content", "encrypted_content", "status"),
  message: nulls("phase"),
  output_text: nulls("logprobs"),
};
function dumped(item: Json): Json {
  const content = item["content"];
  const parts = Array.isArray(content) && { content: (content as Json[]).map(dumped) };
  return { ...UNSET[String(item["type"])], ...item, ...parts };
}

describe.each(MODELS.map(({ model }) => model))("%s", (model) => {
  test("a message of chat completions", async () => {
    const tools = [{ type: "function", function: { name: "get_weather", parameters: schema } }];
    const user = { role: "user", content: said };
    const first = await ask("chat/completions", { model, messages: [user], tools });
    const [{ message }] = first["choices"] as [{ message: Json }];
    const [{ id }] = message["tool_calls"] as [{ id: string }];
    const dump = { ...nulls("content", "refusal", "annotations", "audio", "function_call"), ...message };
    const tool = { role: "tool", tool_call_id: id, content: "Rain." };
    const second = await ask("chat/completions", { model, messages: [user, dump, tool], tools });
    expect(second).toMatchObject({ choices: [{ finish_reason: "stop" }] });
  });

  test("blocks of Messages", async () => {
    const tools = [{ name: "get_weather", input_schema: schema }];
    const user = { role: "user", content: said };
    const asked = { model, max_tokens: 2000, tools };
    const first = await ask("messages", { ...asked, messages: [user] });
    const blocks = (first["content"] as Json[]).map((block) => ({
      ...(block["type"] === "tool_use" ? nulls("caller", "toolset_name") : {}),
      ...(block["type"] === "text" ? nulls("citations") : {}),
      ...block,
    }));
    const use = blocks.find(({ type }) => type === "tool_use");
    const result = { type: "tool_result", tool_use_id: use?.["id"], content: "Rain." };
    const messages = [user, { role: "assistant", content: blocks }, { role: "user", content: [result] }];
    expect(await ask("messages", { ...asked, messages })).toMatchObject({ stop_reason: "end_turn" });
  });

  test("items of Responses", async () => {
    const tools = [{ type: "function", name: "get_weather", parameters: schema, strict: false }];
    const user = { role: "user", content: said };
    const asked = { model, tools, reasoning: { effort: "low", summary: "auto" } };
    const first = await ask("responses", { ...asked, input: [user] });
    const output = (first["output"] as Json[]).map(dumped);
    const call = output.find(({ type }) => type === "function_call");
    const result = { type: "function_call_output", call_id: call?.["call_id"], output: "Rain." };
    const second = await ask("responses", { ...asked, input: [user, ...output, result] });
    const again = (second["output"] as Json[]).map(dumped);
    const more = { role: "user", content: "And tomorrow?" };
    await ask("responses", { ...asked, input: [user, ...output, result, ...again, more] });
  });
});
