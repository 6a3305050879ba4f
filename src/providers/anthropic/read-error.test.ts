import { expect, test } from "bun:test";
import {
  httpReply,
  providerCall,
  startUpstream,
  streamCall,
  STREAM_HEAD,
} from "../openai/openai.fixtures.ts";
import { collect, failureOf } from "../openai/openai.fixtures.ts";
import { began, claudeAt, grew, started } from "./anthropic.fixtures.ts";

const error = (type: string, message: string): string =>
  JSON.stringify({ type: "error", error: { type, message }, request_id: "req_9" });

const CREDIT = "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.";
const LIMIT = "You have reached your specified API usage limits. You will regain access on 2026-12-01.";

const REPLIES: [number, string, string, string, "no" | "unknown", string | null][] = [
  [
    400,
    "invalid_request_error",
    "prompt is too long: 210000 tokens > 200000 maximum",
    "context_length",
    "no",
    null,
  ],
  [
    400,
    "invalid_request_error",
    "input length and `max_tokens` exceed context limit",
    "context_length",
    "no",
    null,
  ],
  [400, "invalid_request_error", CREDIT, "quota", "no", null],
  [400, "invalid_request_error", LIMIT, "quota", "no", null],
  [
    400,
    "invalid_request_error",
    "messages.1.content.0: Invalid `signature` in block",
    "rejected",
    "no",
    "messages",
  ],
  [400, "invalid_request_error", "tools.0.custom.input_schema: no", "rejected", "no", "tools"],
  [400, "invalid_request_error", "output_config.format.schema: no", "rejected", "no", "response_format"],
  [400, "invalid_request_error", "output_config.effort: no", "rejected", "no", "reasoning_effort"],
  [400, "invalid_request_error", "stop_sequences: too many", "rejected", "no", "stop"],
  [401, "authentication_error", "invalid x-api-key", "account", "no", null],
  [402, "billing_error", "pay", "quota", "no", null],
  [
    403,
    "permission_error",
    "Your API key does not have permission to use the specified resource",
    "account",
    "no",
    null,
  ],
  [403, "permission_error", "not yours", "rejected", "no", null],
  [404, "not_found_error", "model: claude-x", "rejected", "no", "model"],
  [413, "request_too_large", "Request exceeds the maximum size", "rejected", "no", null],
  [429, "rate_limit_error", "This request would exceed your rate limit", "rate_limited", "no", null],
  [500, "api_error", "Internal server error", "server", "unknown", null],
  [504, "timeout_error", "Request timed out", "server", "unknown", null],
  [529, "overloaded_error", "Overloaded", "unavailable", "no", null],
];

test.each(REPLIES)(
  "%d %s, %s: %s, not executed: %s",
  async (...[status, type, message, reason, executed, param]) => {
    const headers = { "content-type": "application/json", "request-id": "req_head" };
    await using upstream = await startUpstream(({ socket }) =>
      socket.write(httpReply(status, error(type, message), headers)),
    );
    const failure = await failureOf(claudeAt(upstream.url).complete(providerCall()));
    expect([failure.reason, failure.executed]).toEqual([reason as never, executed]);
    expect(failure.upstream).toMatchObject({ status, id: "req_head" });
    expect(failure.upstream.param ?? null).toBe(param);
  },
);

test.each([
  ["overloaded_error", "unavailable", "no"],
  ["rate_limit_error", "rate_limited", "no"],
  ["authentication_error", "account", "no"],
  ["invalid_request_error", "rejected", "no"],
  ["api_error", "server", "unknown"],
  ["a_word_to_come", "server", "unknown"],
] as const)("an event %s before the first word: %s", async (type, reason, executed) => {
  await using upstream = await startUpstream(({ socket }) =>
    socket.end(
      `${STREAM_HEAD}event: message_start\ndata: ${JSON.stringify(started())}\n\nevent: error\ndata: ${error(type, "m")}\n\n`,
    ),
  );
  const { parts, failure } = await collect(claudeAt(upstream.url), streamCall());
  expect(parts).toEqual([]);
  expect([failure?.reason, failure?.executed]).toEqual([reason, executed]);
});

test("an error behind the first word proves nothing, whatever it is called", async () => {
  const events = [
    started(),
    began(0, { type: "text", text: "" }),
    grew(0, { type: "text_delta", text: "Hel" }),
    { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
  ];
  await using upstream = await startUpstream(({ socket }) =>
    socket.end(STREAM_HEAD + events.map((one) => `data: ${JSON.stringify(one)}\n\n`).join("")),
  );
  const { parts, failure } = await collect(claudeAt(upstream.url), streamCall());
  expect(parts).toContainEqual({ type: "text", choice: 0, text: "Hel" });
  expect(failure).toMatchObject({ executed: "unknown", reason: "server" });
});
