// Conversations with tools and thinking through Converse, across route changes, with a bill that equals the ledger's.
import { hello } from "../support/gateway.ts";
import { expect, test } from "bun:test";
import { nanoUsd, type NanoUsd } from "../../src/domain/money.ts";
import type { ErrorJson, GatewayJson } from "../support/events.ts";
import { container, customer, gateway, invoiced, say, spent, tools, withBedrock } from "./bedrock-gateway.ts";

withBedrock();

for (const stream of [false, true])
  test(`twenty turns with tools and thinking, ${stream ? "streamed" : "whole"}: no turn is refused, signatures are sent back, and the bill is the ledger's`, async () => {
    const messages: object[] = [{ role: "system", content: "Be brief." }];
    let signatures = 0;
    const cost = await spent(async () => {
      let sum = 0n;
      for (let turn = 0; turn < 20; turn += 1) {
        messages.push({ role: "user", content: `Turn ${turn}: what say weather and clock?` });
        const asked = await say(
          { model: "claude-1", messages, tools, max_tokens: 4096, reasoning_effort: "medium" },
          stream,
        );
        expect(asked.finish).toBe("tool_calls");
        expect(asked.message.reasoning_content).not.toBe("");
        const calls = asked.message.tool_calls ?? [];
        expect(calls.map((call) => call.function.name)).toEqual(["weather", "clock"]);
        if (JSON.stringify(calls[0]?.extra_content).includes('"signature"')) signatures += 1;
        messages.push(asked.message);
        for (const { id } of calls) messages.push({ role: "tool", tool_call_id: id, content: "rain" });
        const told = await say(
          { model: "claude-1", messages, tools, max_tokens: 4096, reasoning_effort: "medium" },
          stream,
        );
        expect([told.finish, told.message.tool_calls]).toEqual(["stop", undefined]);
        messages.push(told.message);
        for (const { receipt } of [asked, told]) {
          expect(invoiced(receipt.request_id)).toEqual([
            [receipt.cost.input_tokens, receipt.cost.output_tokens],
          ]);
          sum += (await gateway.request(receipt.request_id)).charge ?? 0n;
        }
      }
      expect(signatures).toBe(20);
      messages.push({ sum });
    });
    expect(cost).toBe((messages.at(-1) as { sum: NanoUsd }).sum);
  }, 120_000);

test("a conversation across a change of route and back: what one signed the other does not get", async () => {
  const messages: object[] = [];
  const providers: string[] = [];
  for (let turn = 0; turn < 6; turn += 1) {
    const away = Math.floor(turn / 2) % 2 === 1; // two turns on each side
    messages.push({ role: "user", content: `Turn ${turn}: what says weather?` });
    for (const role of ["asked", "told"]) {
      if (away) gateway.simulator.behave({ behaviour: { status: 503 }, model: "sim-base-1", calls: 1 });
      const stream = turn % 2 === 0;
      const said = await say(
        { model: "both-1", messages, tools, max_tokens: 4096, reasoning_effort: "medium" },
        stream,
      );
      providers.push(said.receipt.provider);
      expect(said.receipt.provider).toBe(away ? "aws" : "simulator");
      expect(said.finish).toBe(role === "asked" ? "tool_calls" : "stop");
      messages.push(said.message);
      for (const { id } of said.message.tool_calls ?? [])
        messages.push({ role: "tool", tool_call_id: id, content: "rain" });
      const { request_id: id, cost } = said.receipt;
      expect(invoiced(id)).toEqual([[cost.input_tokens, cost.output_tokens]]);
    }
  }
  expect(new Set(providers)).toEqual(new Set(["simulator", "aws"]));
});

test("a model that loses its signatures half-way is still answered, without thinking", async () => {
  const first = await say(
    {
      model: "claude-1",
      messages: [{ role: "user", content: "what says weather?" }],
      tools,
      max_tokens: 4096,
      reasoning_effort: "medium",
    },
    false,
  );
  const [call] = first.message.tool_calls ?? [];
  for (const extra of [
    undefined,
    { bedrock: { by: "claude", reasoning: "x" } },
    { bedrock: { by: "nobody", reasoning: [] } },
  ]) {
    const messages = [
      { role: "user", content: "what says weather?" },
      { role: "assistant", content: null, tool_calls: [{ ...call, extra_content: extra }] },
      { role: "tool", tool_call_id: call?.id, content: "rain" },
    ];
    const said = await say(
      { model: "claude-1", messages, tools, max_tokens: 4096, reasoning_effort: "medium" },
      true,
    );
    expect([said.finish, said.message.reasoning_content]).toEqual(["stop", undefined]);
  }
});

for (const [order, behaviour] of [
  ["no usage", { no_usage: true }],
  ["usage first", { usage_first: true }],
  ["a late word", { after_done: true }],
] as const)
  test(`a stream with ${order} is charged by what the bill says`, async () => {
    gateway.simulator.behave({ behaviour });
    const { receipt, finish } = await say(
      { ...hello("claude-1"), max_tokens: 2048, reasoning_effort: "none" },
      true,
    );
    expect(finish).toBe("stop");
    expect(invoiced(receipt.request_id).map(([, output]) => output)).toEqual([receipt.cost.output_tokens]);
  });

const marked = (model: string, ttl: "5m" | "1h"): object => ({
  model,
  messages: [
    {
      role: "user",
      content: [
        { type: "text", text: "A long introduction. ".repeat(20), cache_control: { type: "ephemeral", ttl } },
      ],
    },
  ],
  max_tokens: 100,
  reasoning_effort: "none",
});

/** The receipt's amount for a class of tokens, and its rate. */
const lineOf = ({ cost }: GatewayJson, name: string): unknown[] =>
  cost.lines.flatMap((line) => (line.class === name ? [line.tokens, line.usd_per_million] : []));

test.each([
  ["kept-1", "5m", false, 0],
  ["kept-1", "1h", true, 0],
  ["kept-1", "5m", true, 20],
  ["claude-1", "1h", false, 0],
] as const)(
  "a cache mark on %s for %s, streamed %p, of which %p are read, is charged as the upstream tells it",
  async (model, ttl, stream, cached) => {
    gateway.simulator.behave({ behaviour: { classes: { cached } }, calls: 1 });
    const { receipt } = await say(marked(model, ttl), stream);
    const [prompt, output] = invoiced(receipt.request_id)[0] ?? [0, 0];
    const kept = model === "kept-1" ? Math.floor(prompt / 2) : 0;
    const written = kept - cached;
    const [priced, rate] = ttl === "1h" ? ["cache_write_1h", 4000] : ["cache_write", 2500];
    expect(lineOf(receipt, priced)).toEqual(kept === 0 ? [] : [written, String(rate / 1000)]);
    expect(lineOf(receipt, "cached_input")).toEqual(cached === 0 ? [] : [cached, "0.2"]);
    const sum = (prompt - kept + output) * 2000 + written * rate + cached * 200;
    const { charge } = await gateway.request(receipt.request_id);
    expect(charge).toBe(nanoUsd(BigInt(Math.max(100_000, sum))));
  },
);

test("a prompt that is entirely written to the cache, for an hour, is within the hold", async () => {
  const told = { inputTokens: 0, outputTokens: 10, totalTokens: 0 };
  const body = marked("kept-1", "1h");
  const answer = await fetch(`${gateway.baseUrl}/chat/completions/quote`, {
    method: "POST",
    headers: { authorization: `Bearer ${customer.secret}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const quote = (await answer.json()) as { prompt_tokens_max: number; max_charge_usd: string };
  const most = quote.prompt_tokens_max;
  expect(quote.max_charge_usd).toBe(((most * 4000 + 100 * 2000) / 1e9).toFixed(9));
  const usage = {
    ...told,
    cacheWriteInputTokens: most,
    cacheDetails: [{ ttl: "1h", inputTokens: most }],
  };
  gateway.simulator.behave({ behaviour: { usage_as_is: usage }, calls: 1 });
  const { receipt } = await say(body, false);
  const { charge } = await gateway.request(receipt.request_id);
  expect(charge).toBe(nanoUsd(BigInt(most * 4000 + 10 * 2000)));
});

test("a cache mark that its model or its release does not support is named", async () => {
  for (const [model, named] of [
    ["kept-1", null],
    ["claude-1", "cache_control"],
  ] as const) {
    const { headers } = await gateway.chat(customer, marked(model, "5m"));
    expect(headers.get("x-gw-ignored-parameters")).toBe(named);
  }
});

test("a role instead of a key: while its keys are unavailable nothing is sent or charged, then all calls sign with them", async () => {
  const hi = { ...hello("roled-1"), max_tokens: 2048 };
  container.status = 503;
  const cost = await spent(async () => {
    const { status, json } = await gateway.chat<ErrorJson>(customer, hi);
    expect([status, json.error.code]).toEqual([502, "provider_error"]);
    expect(invoiced(json.error.request_id)).toEqual([]);
    expect(await gateway.request(json.error.request_id)).toMatchObject({
      state: "released",
      attempts: [{ outcome: "not_executed", errorClass: "unavailable", words: "NotNow" }],
    });
  });
  expect(cost).toBe(nanoUsd(0n));
  container.status = 200;
  await Bun.sleep(1050); // a failed renewal is shared for a second
  container.asked = 0;
  const turns = await Promise.all([false, true, false, true].map((stream) => say(hi, stream)));
  for (const { receipt, finish } of turns) {
    expect(finish).toBe("stop");
    expect(invoiced(receipt.request_id)).toEqual([[receipt.cost.input_tokens, receipt.cost.output_tokens]]);
  }
  expect(container.asked).toBe(1);
});
