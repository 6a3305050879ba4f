import { expect, test } from "bun:test";
import { allowedBetas } from "../../anthropic/betas.ts";
import { FaceRefusal } from "../face.ts";
import { servesClaude, unwrapped } from "./envelope.ts";

const DIRECT = "/anthropic/v1/messages";
const at = (method: string, model = "claude-haiku-4-5@20251001"): string =>
  `/anthropic/v1/projects/p-1/locations/global/publishers/anthropic/models/${model}:${method}`;
const VERSION = { anthropic_version: "vertex-2023-10-16" };
const KEY = { "x-api-key": "k", "anthropic-version": "2023-06-01" };
const KNOWN = "claude-code-20250219, context-management-2025-06-27";
const BEARER = { authorization: "Bearer t" };

const refusal = (body: object, path: string, headers: Record<string, string>): string | null => {
  try {
    unwrapped(body, path, headers);
    return null;
  } catch (error) {
    if (error instanceof FaceRefusal) return `${error.about.status ?? 400} ${error.message}`;
    throw error;
  }
};

test("a call of Vertex is the vendor's own, with the model of its path", () => {
  for (const [method, stream] of [
    ["rawPredict", {}],
    ["streamRawPredict", { stream: true }],
  ] as const) {
    expect(servesClaude(at(method))).toBe(true);
    expect(unwrapped({ ...VERSION, ...stream, max_tokens: 9 }, at(method), BEARER)).toEqual({
      model: "claude-haiku-4-5@20251001",
      max_tokens: 9,
      ...stream,
    });
  }
  expect(servesClaude(at("predict"))).toBe(false);
  expect(servesClaude(at("rawPredict").replace("anthropic/models", "google/models"))).toBe(false);
});

test.each<[string, object, string, Record<string, string>, string | null]>([
  ["a key", {}, DIRECT, KEY, null],
  ["a bearer token", {}, DIRECT, { ...BEARER, "anthropic-version": "2023-06-01" }, null],
  ["no proof", {}, DIRECT, { "anthropic-version": "2023-06-01" }, "401 x-api-key"],
  ["no version", {}, DIRECT, { "x-api-key": "k" }, "400 anthropic-version"],
  ["Vertex with a key", VERSION, at("rawPredict"), KEY, "401 "],
  ["Vertex without a version", {}, at("rawPredict"), BEARER, "400 anthropic_version"],
  [
    "Vertex with another",
    { anthropic_version: "2023-06-01" },
    at("rawPredict"),
    BEARER,
    "400 anthropic_version",
  ],
  ["Vertex with a model", { ...VERSION, model: "m" }, at("rawPredict"), BEARER, "400 model"],
  ["a stream at the other method", { ...VERSION, stream: true }, at("rawPredict"), BEARER, "400 stream"],
  [
    "Vertex with betas that it knows",
    VERSION,
    at("rawPredict"),
    { ...BEARER, "anthropic-beta": KNOWN },
    null,
  ],
  [
    "Vertex with one that it does not",
    VERSION,
    at("rawPredict"),
    { ...BEARER, "anthropic-beta": `${KNOWN},effort-2025-11-24` },
    "400 Unexpected value(s) `effort-2025-11-24`",
  ],
  ["no stream at the method of streams", VERSION, at("streamRawPredict"), BEARER, "400 stream"],
])("%s", (...[, body, path, headers, refused]) => {
  if (refused === null) expect(refusal(body, path, headers)).toBeNull();
  else expect(refusal(body, path, headers)).toStartWith(refused);
});

test("Vertex takes every name of an agent's that the gateway passes on", () => {
  const agent = `claude-code-20250219,interleaved-thinking-2025-05-14,thinking-token-count-2026-05-13,effort-2025-11-24,
    context-management-2025-06-27,prompt-caching-scope-2026-01-05,per-turn-control-2026-07-01,tool-examples-2025-10-29,
    thinking-binding-controls-2026-08-01,advanced-tool-use-2025-11-20,thinking-display-updates-2026-08-18`;
  const { names } = allowedBetas(agent.replace(/\s/g, ""), "vertex");
  expect(names.length).toBeGreaterThan(4);
  expect(refusal(VERSION, at("rawPredict"), { ...BEARER, "anthropic-beta": names.join(",") })).toBeNull();
});
