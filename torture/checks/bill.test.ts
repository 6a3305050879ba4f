// What the check of the bill accepts for one request with one call.
import { expect, test } from "bun:test";
import { Evidence, type Found } from "../evidence.ts";
import { upstreamModel } from "../models.ts";
import type { BilledCall } from "../simulator-process.ts";
import type { RequestRow } from "../store.ts";
import { bill } from "./bill.ts";

const REQUEST = "req_1";

/** A request that was charged for 20 and 1 tokens of a call that made 20 and `made`. */
function brokenOf(model: string, made: number, outcome: BilledCall["outcome"], promptTokens = 20): string[] {
  const row = {
    requestId: REQUEST,
    idempotencyKey: null,
    model,
    state: "settled",
    evidence: "provider_usage",
    promptTokens,
    completionTokens: 1,
    toldTokens: null,
  } as RequestRow;
  const call = {
    request_id: REQUEST,
    attempt: 1,
    model: upstreamModel(model, 0),
    prompt_tokens: 20,
    completion_tokens: made,
    outcome,
    billed: true,
  } as BilledCall;
  const found = { rows: [row], bill: [call], history: { exchanges: [] } } as unknown as Found;
  return bill(new Evidence(found)).map(({ broken }) => broken);
}

const OTHER = ["the tokens charged are not those of the bill"];

test.each(["claude-overruns", "gemini-slow"])(
  "%s tells early: cut, it may have made more than it told of; whole, or of another prompt, it may not",
  (model) => {
    expect(brokenOf(model, 3, "cut")).toEqual([]);
    expect(brokenOf(model, 3, "finished")).toEqual(OTHER);
    expect(brokenOf(model, 0, "cut")).toEqual(OTHER);
    expect(brokenOf(model, 3, "cut", 19)).toEqual(OTHER);
  },
);

test("a provider that reports usage only at the end has reported everything it made", () => {
  expect(brokenOf("converse-slow", 1, "finished")).toEqual([]);
  expect(brokenOf("converse-slow", 3, "cut")).toEqual(OTHER);
});
