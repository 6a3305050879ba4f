// Providers' messages about our account and our requests: an empty account is not a rate limit, a caller's mistake is
// a 400 with its field, ours is a 502 and an alarm; the messages are stored, redacted, for those concerned.
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { httpReply, startUpstream, type Upstream } from "../../src/providers/openai/openai.fixtures.ts";
import type { ErrorJson } from "../support/events.ts";
import { type Browser, firstOperator, newMember } from "../support/browser.ts";
import { type Customer, hello, startGateway, type TestGateway } from "../support/gateway.ts";
import { onProvider, PREVIEW_V1 } from "../support/models.ts";
import { createLog } from "../../src/lib/log.ts";

let reply = "";
let upstream: Upstream;
let gateway: TestGateway;
let customer: Customer;
let root: Browser;
let member: Browser;
const logged: { level: number; provider?: string; words?: string; msg: string }[] = [];
beforeAll(async () => {
  upstream = await startUpstream(({ socket }) => socket.write(reply));
  const alone = { ...PREVIEW_V1, model: "alone-1" };
  gateway = await startGateway({
    providers: { vendor: upstream.url },
    models: [
      onProvider(alone, "vendor"),
      onProvider({ ...PREVIEW_V1, model: "two-1" }, "vendor", { priority: 0 }),
      onProvider({ ...PREVIEW_V1, model: "two-1" }, "simulator", { priority: 1 }),
    ],
    log: createLog("warn", { write: (line: string) => void logged.push(JSON.parse(line) as never) }),
    configure: (config) => {
      for (const provider of config.providers) {
        if (provider.name === "vendor")
          provider.own = { ...provider.own, api_key: "hunter2-provider-secret" };
        provider.health = { ...provider.health, openAfterFailures: 1000, halfOpenAfterMs: 1 };
      }
    },
  });
  root = await firstOperator(gateway);
  customer = await gateway.customer({ usd: "1000" });
  member = await newMember(root, gateway, {
    org: customer.organizationId,
    role: "owner",
    email: "owner@example.com",
  });
});
beforeEach(async () => {
  logged.length = 0;
  await Bun.sleep(3); // the circuit of the previous test lets a trial through
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
  await upstream[Symbol.asyncDispose]();
});

const refusal = (status: number, error: unknown, headers: Record<string, string> = {}): string => {
  const body = JSON.stringify(error);
  return httpReply(status, body, {
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
    ...headers,
  });
};
const account = async (): Promise<{ cause: string; words: string | null } | null> => {
  const { data } = await root.app("GET /operator/providers");
  return data.find(({ name }) => name === "vendor")?.account ?? null;
};

/** As the vendors phrase it. */
const EMPTY: [string, string][] = [
  [
    "OpenAI",
    refusal(429, {
      error: {
        message: "You exceeded your current quota, please check your plan and billing details.",
        type: "insufficient_quota",
        param: null,
        code: "insufficient_quota",
      },
    }),
  ],
  [
    "OpenAI's hard limit",
    refusal(400, {
      error: {
        message: "Billing hard limit has been reached",
        type: "invalid_request_error",
        param: null,
        code: "billing_hard_limit_reached",
      },
    }),
  ],
  [
    "DeepSeek",
    refusal(402, {
      error: {
        message: "Insufficient Balance",
        type: "unknown_error",
        param: null,
        code: "invalid_request_error",
      },
    }),
  ],
  [
    "Moonshot",
    refusal(429, {
      error: {
        message: "Your account org-x is suspended, please check your plan and billing details",
        type: "exceeded_current_quota_error",
      },
    }),
  ],
  [
    "OpenRouter",
    refusal(402, {
      error: {
        code: 402,
        message: "Insufficient credits. Add more using https://openrouter.ai/settings/credits",
      },
    }),
  ],
  [
    "Anthropic",
    refusal(400, {
      type: "error",
      error: {
        type: "invalid_request_error",
        message: "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.",
      },
    }),
  ],
  [
    "xAI",
    refusal(403, {
      code: "The caller does not have permission",
      error: "Your team has either used all available credits or reached its monthly spending limit.",
    }),
  ],
  [
    "Zhipu",
    refusal(429, {
      error: { code: "1113", message: "Insufficient balance or no resource package. Please recharge." },
    }),
  ],
  [
    "Alibaba",
    refusal(400, {
      error: {
        code: "Arrearage",
        message: "Access denied, please make sure your account is in good standing.",
      },
    }),
  ],
  [
    "Fireworks",
    refusal(412, {
      error: { message: "Account x is suspended, possibly due to reaching the monthly spending limit" },
    }),
  ],
  ["Mistral", refusal(402, { detail: "Payment required" })],
];

for (const stream of [false, true]) {
  test.each(EMPTY)(
    `streamed ${stream}: an empty account at %s is ours: no retry, the next route, an alarm`,
    async (_, said) => {
      reply = said;
      const alone = await gateway.chat<ErrorJson>(customer, { ...hello("alone-1"), stream });
      expect([alone.status, alone.json.error.code]).toEqual([502, "provider_error"]);
      expect([alone.headers.get("x-should-retry"), alone.headers.get("retry-after")]).toEqual([
        "false",
        null,
      ]);
      expect(alone.json.error.message).not.toMatch(/quota|balance|credits? |billing|rate/i);
      expect(await account()).toMatchObject({ cause: "quota" });
      expect(logged.at(-1)).toMatchObject({ level: 50, provider: "vendor" });
      expect(logged.at(-1)?.msg).toContain("out of quota");
      await Bun.sleep(3);
      const two = await gateway.chat(customer, { ...hello("two-1"), stream });
      expect(two.status).toBe(200);
      expect(two.text).toContain('"provider":"simulator"');
    },
  );
}

const DENIED: [string, string, [number, string]][] = [
  [
    "xAI denies a prompt",
    refusal(403, {
      code: "The caller does not have permission to execute the specified operation",
      error:
        "Content violates usage guidelines. Team: t, API key ID: k, Model: grok-4-0709, Failed check: SAFETY_CHECK_TYPE_BIO",
    }),
    [400, "content_filter"],
  ],
  [
    "a provider denies a model",
    refusal(403, {
      error: { message: "Project `proj_1` does not have access to model `m`", code: "model_not_found" },
    }),
    [502, "provider_error"],
  ],
  ["a front before a provider denies a body", refusal(403, "Forbidden"), [502, "provider_error"]],
];

for (const stream of [false, true]) {
  test.each(DENIED)(
    `streamed ${stream}: %s, and no route closes: the next request goes out`,
    async (_, said, [status, code]) => {
      reply = said;
      const asked = upstream.got.length;
      for (let n = 0; n < 2; n += 1) {
        const alone = await gateway.chat<ErrorJson>(customer, { ...hello("alone-1"), stream });
        expect([alone.status, alone.json.error.code]).toEqual([status, code]);
      }
      expect(upstream.got).toHaveLength(asked + 2);
      expect(await account()).toBeNull();
      expect(logged.filter(({ msg }) => msg.includes("its routes are closed"))).toEqual([]);
    },
  );
}

test("a refused key is reported separately, and an answer clears it", async () => {
  reply = refusal(401, {
    error: {
      message: "Incorrect API key provided: hunter2-provider-secret",
      type: "invalid_request_error",
      code: "invalid_api_key",
    },
  });
  await gateway.chat(customer, hello("alone-1"));
  expect(await account()).toMatchObject({
    cause: "account",
    words: "invalid_api_key invalid_request_error: Incorrect API key provided: [key]",
  });
  reply = httpReply(200, JSON.stringify({ choices: [{ message: { content: "a" }, finish_reason: "stop" }] }));
  await Bun.sleep(3);
  expect((await gateway.chat(customer, hello("alone-1"))).status).toBe(200);
  expect(await account()).toBeNull();
});

/** Rate limits, and texts that a caller could have put there: they close nothing for anyone. */
const NOT_EMPTY: [string, string, number][] = [
  [
    "a rate limit",
    refusal(429, {
      error: { message: "Rate limit reached for requests", type: "requests", code: "rate_limit_exceeded" },
    }),
    502,
  ],
  [
    "Google's quota of a minute",
    refusal(429, [
      {
        error: {
          code: 429,
          status: "RESOURCE_EXHAUSTED",
          message: "You exceeded your current quota, please check your plan and billing details.",
          details: [{ retryDelay: "34.4s" }],
        },
      },
    ]),
    502,
  ],
  [
    "tokens of a minute",
    refusal(429, {
      message: "Tokens per minute limit exceeded",
      type: "too_many_tokens_error",
      code: "token_quota_exceeded",
    }),
    502,
  ],
  [
    "a caller's words in a 400",
    refusal(400, {
      error: {
        message: "Invalid tool name: insufficient balance, account suspended",
        type: "invalid_request_error",
        code: null,
      },
    }),
    502,
  ],
  [
    "a prompt that was flagged",
    refusal(403, {
      error: { code: 403, message: "Your chosen model requires moderation and your input was flagged" },
    }),
    400,
  ],
];

test.each(NOT_EMPTY)("%s says nothing of our account", async (_, said, status) => {
  reply = said;
  expect((await gateway.chat(customer, hello("alone-1"))).status).toBe(status);
  expect(await account()).toBeNull();
});

interface Mistake {
  what: string;
  said: string;
  body?: object;
  answer: [number, string, string | null];
}

const wrong = (error: object, status = 400): string => refusal(status, { error });
const detail = (...loc: (string | number)[]): string =>
  refusal(422, {
    detail: [
      {
        type: "less_than_equal",
        loc: ["body", ...loc],
        msg: "Input should be less than or equal to 1",
        input: "Say hello",
      },
    ],
  });

const MISTAKES: Mistake[] = [
  {
    what: "a value that the caller sent",
    said: wrong({ message: "Invalid value", param: "temperature" }),
    body: { temperature: 2 },
    answer: [400, "invalid_request", "temperature"],
  },
  {
    what: "a value that the release chose",
    said: wrong({ message: "Invalid value", param: "temperature" }),
    answer: [502, "provider_error", null],
  },
  {
    what: "the path of a message",
    said: wrong({ message: "Invalid", param: "messages.0.content" }),
    answer: [400, "invalid_request", "messages[0].content"],
  },
  {
    what: "FastAPI's place",
    said: detail("temperature"),
    body: { temperature: 2 },
    answer: [400, "invalid_request", "temperature"],
  },
  {
    what: "FastAPI's place in a message",
    said: detail("messages", 0, "content"),
    answer: [400, "invalid_request", "messages[0].content"],
  },
  {
    what: "a field in its words alone",
    said: wrong({ message: "Invalid top_p value, the valid range of top_p is (0, 1.0]" }),
    body: { top_p: 0.1 },
    answer: [400, "invalid_request", "top_p"],
  },
  {
    what: "a field that it does not know",
    said: wrong({ message: "Unknown parameter: 'seed'.", param: "seed", code: "unknown_parameter" }),
    body: { seed: 1 },
    answer: [400, "unsupported_parameter", "seed"],
  },
  {
    what: "the maximum under its other name",
    said: wrong({ message: "max_tokens is too large: 9", param: "max_completion_tokens" }),
    body: { max_tokens: 9 },
    answer: [400, "invalid_request", "max_tokens"],
  },
  {
    what: "a name for the maximum that is ours to know",
    said: wrong({
      message:
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      param: "max_tokens",
      code: "unsupported_parameter",
    }),
    body: { max_tokens: 9 },
    answer: [502, "provider_error", null],
  },
  {
    what: "a model that is ours to name",
    said: wrong({ message: "The model does not exist", param: "model" }),
    answer: [502, "provider_error", null],
  },
  {
    what: "what only this gateway asks for",
    said: wrong({ message: "Unknown", param: "stream_options" }),
    answer: [502, "provider_error", null],
  },
  {
    what: "nothing at all",
    said: wrong({ message: "Bad request" }),
    body: { temperature: 2 },
    answer: [502, "provider_error", null],
  },
  {
    what: "two of them",
    said: wrong({ message: "temperature and top_p cannot both be given" }),
    body: { temperature: 1.5, top_p: 0.5 },
    answer: [502, "provider_error", null],
  },
  {
    what: "a path made to break out",
    said: wrong({ message: "x", param: "temperature<script>\u001b[31m" }),
    body: { temperature: 2 },
    answer: [400, "invalid_request", "temperature"],
  },
];

test.each(MISTAKES.map((mistake) => [mistake.what, mistake] as const))(
  "a 400 that names %s is answered to whom it concerns",
  async (_, { said, body = {}, answer }) => {
    reply = said;
    const before = await gateway.balance(customer);
    const { status, json, text } = await gateway.chat<ErrorJson>(customer, { ...hello("alone-1"), ...body });
    expect([status, json.error.code, json.error.param ?? null]).toEqual(answer);
    expect(await gateway.balance(customer)).toEqual(before);
    expect(text).not.toContain("Input should");
    expect(logged.some(({ level }) => level === 40)).toBe(status === 502);
  },
);

test("a provider's messages are stored redacted, on one line, for operators; for members those about their own requests", async () => {
  const nasty = `Invalid 'temperature': see https://vendor.example/acct/4711 with key hunter2-provider-secret, org-A1b2C3d4, project 123456789012, "${"the whole prompt ".repeat(5)}"\n\u001b[31mred\u202e`;
  for (const [body, members] of [
    [{ temperature: 2 }, true],
    [{}, false],
  ] as const) {
    reply = wrong({ message: nasty, param: "temperature", code: "invalid_value" });
    const { headers } = await gateway.chat(customer, { ...hello("alone-1"), ...body });
    const id = headers.get("x-request-id") ?? "";
    const { json } = await gateway.admin<{ attempts: { words: string; error_class: string }[] }>(
      "GET",
      `/requests/${id}`,
    );
    const [attempt] = json.attempts;
    expect(attempt?.error_class).toBe(members ? "bad_request" : "rejected");
    expect(attempt?.words).toBe(
      `invalid_value: Invalid 'temperature': see [address] with key [key], [id], project [number], "…" \\u{1b}[31mred\\u{202e}`,
    );
    const { organizationId } = customer;
    for (const browser of [root, member]) {
      const shown = await browser.app("GET /orgs/{org}/activity/{request}", {
        org: organizationId,
        request: id,
      });
      const kept = browser === root || members ? attempt?.words : null;
      expect(shown.request?.attempts[0]?.words).toBe(kept ?? null);
    }
  }
});
