// The texts for callers that have reached a limit.
import { expect, test } from "bun:test";
import type { RateLimits } from "../../domain/rate-limits.ts";
import { unsetRow } from "../rate-in-force.ts";
import { blockedBy } from "./rate-blocked.ts";

const NOW_US = 1_000_000_000_000_000;
const place = { organizationId: "org_1", keyId: "key_1", model: "" };

/** Returns the text for a key with these limits, all of them used up. */
function said(limits: Partial<RateLimits>, tokens: number): string | undefined {
  const row = unsetRow(place, { running: 5, since: 0 });
  row.requestsTat = row.tokensTat = NOW_US + 60_000_000;
  const none = { requestsPerMinute: null, tokensPerMinute: null, concurrent: null };
  return blockedBy([{ subject: "key", row, limits: { ...none, ...limits } }], { tokens }, NOW_US)?.refusal
    .message;
}

test.each([
  [{ requestsPerMinute: 1 }, "This key may send 1 request per minute. Send the request again in 60 seconds."],
  [
    { requestsPerMinute: 60 },
    "This key may send 60 requests per minute. Send the request again in a second.",
  ],
  [
    { tokensPerMinute: 1 },
    "This key may use 1 token per minute: 0 are available now, and this request may use 1.",
  ],
  [
    { tokensPerMinute: 9 },
    "This key may use 9 tokens per minute: 0 are available now, and this request may use 1.",
  ],
  [{ concurrent: 1 }, "This key may run 1 request at the same time; streams"],
  [{ concurrent: 2 }, "This key may run 2 requests at the same time; streams"],
])("%o", (limits, words) => {
  expect(said(limits, 1)).toStartWith(words);
});

test("a request that can never fit is told the limit, not a time", () => {
  expect(said({ tokensPerMinute: 1 }, 2)).toBe(
    "This key may use 1 token per minute, and this request alone may use 2. Lower max_tokens, or shorten the messages.",
  );
});
