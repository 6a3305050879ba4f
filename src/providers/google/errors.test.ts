import { expect, test } from "bun:test";
import { failureOf, httpReply, providerCall, startUpstream } from "../openai/openai.fixtures.ts";
import { readGeminiError } from "./errors.ts";
import { geminiAt, geminiOutgoing } from "./google.fixtures.ts";

const retry = (delay: string): object => ({
  "@type": "type.googleapis.com/google.rpc.RetryInfo",
  retryDelay: delay,
});
const error = (status: string, message: string, details: object[] = []): object => ({
  error: { code: 400, status, message, details },
});

const TOLD: [string, number, object, [reason: string, retryAfterMs: number | null, param: string | null]][] =
  [
    [
      "a rate limit",
      429,
      error("RESOURCE_EXHAUSTED", "slow down", [retry("34.4s")]),
      ["rate_limited", 35_000, null],
    ],
    [
      "a quota of a day, which does not come back in seconds",
      429,
      error(
        "RESOURCE_EXHAUSTED",
        "You exceeded your current quota, please check your plan and billing details.",
        [{ violations: [{ quotaId: "GenerateRequestsPerDayPerProjectPerModel-FreeTier" }] }, retry("12s")],
      ),
      ["rate_limited", 3_600_000, null],
    ],
    [
      "an empty account",
      429,
      error(
        "RESOURCE_EXHAUSTED",
        "You exceeded your current quota, please check your plan and billing details.",
      ),
      ["quota", null, null],
    ],
    [
      "in a list",
      429,
      [error("RESOURCE_EXHAUSTED", "slow down", [retry("1s")])],
      ["rate_limited", 1000, null],
    ],
    [
      "a key that is none",
      400,
      error("INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", [
        { reason: "API_KEY_INVALID" },
      ]),
      ["account", null, null],
    ],
    [
      "a country",
      400,
      error("FAILED_PRECONDITION", "User location is not supported for the API use."),
      ["account", null, null],
    ],
    [
      "no rights",
      403,
      error("PERMISSION_DENIED", "Permission denied on resource project p-1.", [
        { reason: "CONSUMER_INVALID" },
      ]),
      ["account", null, null],
    ],
    [
      "a service account without the role",
      403,
      error(
        "PERMISSION_DENIED",
        "Permission 'aiplatform.endpoints.predict' denied on resource '//aiplatform.googleapis.com/projects/p-1' (or it may not exist).",
        [{ reason: "IAM_PERMISSION_DENIED" }],
      ),
      ["account", null, null],
    ],
    ["a denial without a reason", 403, error("PERMISSION_DENIED", "no"), ["rejected", null, null]],
    [
      "a file that the caller named, whatever its name says",
      403,
      error(
        "PERMISSION_DENIED",
        "You do not have permission to access the File api-key of account or it may not exist.",
      ),
      ["rejected", null, null],
    ],
    [
      "too much text",
      400,
      error(
        "INVALID_ARGUMENT",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
      ),
      ["context_length", null, null],
    ],
    [
      "a prompt against the rules",
      400,
      error(
        "INVALID_ARGUMENT",
        "The prompt could not be submitted. It violates Google's Responsible AI practices.",
      ),
      ["content_filter", null, null],
    ],
    [
      "a field by its place",
      400,
      error("INVALID_ARGUMENT", "Invalid value at 'generation_config.top_p'", [
        { fieldViolations: [{ field: "generation_config.top_p", description: "bad" }] },
      ]),
      ["rejected", null, "top_p"],
    ],
    [
      "a tool in its words",
      400,
      error(
        "INVALID_ARGUMENT",
        "* GenerateContentRequest.tools[0].function_declarations[0].name: Invalid function name.",
      ),
      ["rejected", null, "tools"],
    ],
    [
      "a signature that somebody made",
      400,
      error("INVALID_ARGUMENT", "Corrupted thought signature."),
      ["rejected", null, "messages"],
    ],
    [
      "a signature that we left out",
      400,
      error("INVALID_ARGUMENT", "Function call is missing a thought_signature in functionCall parts."),
      ["rejected", null, null],
    ],
    [
      "a model that is full",
      503,
      error("UNAVAILABLE", "The model is overloaded."),
      ["unavailable", null, null],
    ],
    ["HTML", 502, [], ["server", null, null]],
  ];

test.each(TOLD)("%s", async (_, status, body, [reason, retryAfterMs, param]) => {
  await using upstream = await startUpstream(({ socket }) =>
    socket.write(httpReply(status, JSON.stringify(body))),
  );
  const call = { ...providerCall(), body: geminiOutgoing() };
  const failure = await failureOf(geminiAt(upstream.url).complete(call));
  expect([failure.reason as string, failure.executed]).toEqual([
    reason,
    reason === "server" ? "unknown" : "no",
  ]);
  expect([failure.upstream.retryAfterMs ?? null, failure.upstream.param ?? null]).toEqual([
    retryAfterMs,
    param,
  ]);
});

test("whatever stands in its place is no error of this shape, and throws nothing", () => {
  for (const text of [
    "",
    "<html>",
    "[]",
    "[1]",
    "null",
    '{"error":7}',
    '{"error":null}',
    '{"error":{"details":{}}}',
  ])
    expect(readGeminiError(text)).toMatchObject({ status: 0, code: "", param: null, retryAfterMs: null });
  expect(readGeminiError('{"error":"in words"}').message).toBe("in words");
});
