// Gemini behind a whole gateway, when it fails: before the first part, in the middle, or in another shape.
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { nanoUsd } from "../../src/domain/money.ts";
import { httpReply, startUpstream, type Upstream } from "../../src/providers/openai/openai.fixtures.ts";
import type { Behaviour } from "../../src/providers/simulator/behaviour.ts";
import { type ErrorJson, gatewayOf, textOf } from "../support/events.ts";
import { billed, expectAgreement, FLASH, type House, OLD, startHouse, turn } from "./gemini-house.ts";

let house: House;
let odd: Upstream;
let answer = "";
beforeAll(async () => {
  odd = await startUpstream(({ socket }) => socket.write(httpReply(200, answer)));
  house = await startHouse(odd.url);
});
afterEach(() => house.gateway.simulator.behaveWell());
afterAll(async () => {
  await house.gateway.assertSound();
  await house.gateway.stop();
  await odd[Symbol.asyncDispose]();
});

const FAULTS: [string, Behaviour, string][] = [
  ["a busy model", { status: 503 }, "unavailable"],
  ["a rate limit", { status: 429 }, "rate_limited"],
  ["a refused key", { status: 401 }, "account"],
  ["a denied request", { status: 403 }, "rejected"],
];

test.each(FAULTS)(
  "%s before the first part: proven not to have run, so the other shape answers",
  async (_, behaviour, errorClass) => {
    for (const stream of [false, true]) {
      await Bun.sleep(5); // a refused account is tried again
      house.gateway.simulator.behave({ behaviour, model: FLASH, calls: 1 });
      const { receipt } = await turn(
        house,
        { model: "both", messages: [{ role: "user", content: "Hello" }] },
        stream,
      );
      expect(receipt.provider).toBe("simulator");
      await expectAgreement(house, receipt, 1);
      expect((await house.gateway.request(receipt.request_id)).attempts).toMatchObject([
        { provider: "gemini", outcome: "not_executed", errorClass },
        { provider: "simulator", outcome: "answered" },
      ]);
    }
  },
);

test.each([1, 5])("a stream that is cut after %d events is charged by its reported usage", async (events) => {
  house.gateway.simulator.behave({
    behaviour: { reset_after_events: events, completion_tokens: 30 },
    model: OLD,
    calls: 1,
  });
  const { events: heard, text } = await house.gateway.stream(house.customer, {
    model: "old",
    messages: [{ role: "user", content: "Hello" }],
    reasoning_effort: "none",
  });
  expect(text).toContain('"code":"provider_error"');

  const { request_id: id } = gatewayOf(heard);
  const [call] = billed(house, id);
  expect(call?.outcome).toBe("cut");
  expect(await house.gateway.request(id)).toMatchObject({
    state: "settled",
    usage: { promptTokens: call?.prompt_tokens, completionTokens: call?.completion_tokens },
  });
});

test("an error inside a stream that has begun ends it with our own message, charged by its reported usage", async () => {
  house.gateway.simulator.behave({
    behaviour: { error_after_events: 4, completion_tokens: 30 },
    model: OLD,
    calls: 1,
  });
  const { events, text } = await house.gateway.stream(house.customer, {
    model: "old",
    messages: [{ role: "user", content: "Hello" }],
    reasoning_effort: "none",
  });
  const spoken = events.chunks.filter(({ error }) => error === undefined);
  expect(
    textOf({ ...events, chunks: spoken })
      .trim()
      .split(" "),
  ).toHaveLength(4);
  expect(text).not.toContain("the simulated model failed");
  expect(billed(house, gatewayOf(events).request_id)).toHaveLength(1);
});

const SHAPES: [string, string][] = [
  ["chat completions", '{"choices":[{"index":0,"message":{"content":"Hi"},"finish_reason":"stop"}]}'],
  ["Messages", '{"type":"message","content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn"}'],
  ["an error with status 200", '{"error":{"code":400,"message":"no"}}'],
  ["HTML", "<html></html>"],
  ["half a body", '{"candidates":[{"content":'],
  ["a list", "[]"],
];

test.each(SHAPES)(
  "another shape than configured, %s: 502, one call, nothing held or charged",
  async (_, text) => {
    answer = text;
    for (const stream of [false, true]) {
      const [calls, before] = [odd.got.length, await house.gateway.balance(house.customer)];
      const reply = await house.gateway.chat<ErrorJson>(house.customer, {
        model: "odd",
        messages: [{ role: "user", content: "Hello" }],
        stream,
      });
      expect([reply.status, reply.json.error.code]).toEqual([502, "provider_error"]);
      expect(odd.got.length - calls).toBe(1);
      const after = await house.gateway.balance(house.customer);
      expect([after.held, after.available]).toEqual([nanoUsd(0n), before.available]);
    }
  },
);
