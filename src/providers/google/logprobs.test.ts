import { expect, test } from "bun:test";
import { geminiParts } from "./google.fixtures.ts";

const chosen = (token: unknown, logProbability?: unknown): object => ({
  token,
  tokenId: 17,
  ...(logProbability !== undefined && { logProbability }),
});

/** Returns what one candidate with these parts and log probabilities yields. */
const said = (parts: unknown[], logprobsResult: unknown, top: number | null = 2): object[] =>
  geminiParts([{ candidates: [{ content: { role: "model", parts }, logprobsResult }] }], 1, top);

const only = (token: string, logprob: number): object => ({
  content: [{ token, logprob, bytes: [...Buffer.from(token)], top_logprobs: [] }],
  refusal: null,
});

test("they stand with the last text of their candidate, without ids, with as many alternatives as were asked for", () => {
  const result = {
    chosenCandidates: [chosen(" é", -0.5)],
    topCandidates: [{ candidates: [chosen(" é", -0.5), chosen("b", -1), chosen("c", -2)] }],
    logProbabilitySum: -0.5,
  };
  const told = (top: number): object => ({
    content: [
      {
        token: " é",
        logprob: -0.5,
        bytes: [32, 195, 169],
        top_logprobs: [
          { token: " é", logprob: -0.5, bytes: [32, 195, 169] },
          { token: "b", logprob: -1, bytes: [98] },
        ].slice(0, top),
      },
    ],
    refusal: null,
  });
  for (const top of [2, 1, 0])
    expect(said([{ text: "hm", thought: true }, { text: "a" }, { text: " é" }], result, top)).toEqual([
      { type: "reasoning", choice: 0, text: "hm" },
      { type: "text", choice: 0, text: "a" },
      { type: "text", choice: 0, text: " é", logprobs: told(top) },
    ]);
  expect(said([{ text: " é" }], result, null)).toEqual([{ type: "text", choice: 0, text: " é" }]);
});

test("told beside no part they stand alone; those of thoughts and calls are left out", () => {
  const result = { chosenCandidates: [chosen("a", -1)] };
  expect(said([{ text: "" }], result)).toEqual([
    { type: "text", choice: 0, text: "", logprobs: only("a", -1) },
  ]);
  for (const part of [{ text: "hm", thought: true }, { functionCall: { name: "f", args: {} } }])
    expect(said([part], result).filter((one) => "logprobs" in one)).toEqual([]);
});

test.each<[string, unknown, object | null]>([
  ["a certain token, whose figure of zero is left out", { chosenCandidates: [chosen("a")] }, only("a", 0)],
  [
    "a piece of a character, whose bytes nobody knows",
    { chosenCandidates: [chosen("\ufffd", -1)] },
    { content: [{ token: "\ufffd", logprob: -1, bytes: null, top_logprobs: [] }], refusal: null },
  ],
  [
    "what is no token",
    { chosenCandidates: [null, 1, chosen(7, -1), chosen("x", "y"), chosen("x", Infinity), chosen("a", -1)] },
    only("a", -1),
  ],
  [
    "lists that are none",
    { chosenCandidates: [chosen("a", -1)], topCandidates: [{ candidates: 3 }] },
    only("a", -1),
  ],
  [
    "fewer alternatives than tokens",
    { chosenCandidates: [chosen("a", -1)], topCandidates: [] },
    only("a", -1),
  ],
  ["no list", { chosenCandidates: {} }, null],
  ["an empty one", { chosenCandidates: [], topCandidates: [] }, null],
  ["no object", 4, null],
])("%s", (_, result, logprobs) => {
  const [part] = said([{ text: "a" }], result);
  expect(part).toEqual({ type: "text", choice: 0, text: "a", ...(logprobs !== null && { logprobs }) });
});

test("a flood of tokens is told without the bytes that would make it many times larger", () => {
  const flood = { chosenCandidates: [chosen("a", -1), chosen("b".repeat(2_000_000), -1), chosen("c", -1)] };
  const [part] = said([{ text: "a" }], flood) as { logprobs: { content: { bytes: number[] | null }[] } }[];
  expect(part?.logprobs.content.map(({ bytes }) => bytes)).toEqual([[97], null, null]);
});
