// The meaning of a refusal is read from its beginning: the rest may be megabytes, or a quoted prompt.
import { expect, test } from "bun:test";
import { failureOfError } from "./errors.ts";

const NOTHING = { status: 400, code: "", message: "", param: null, retryAfterMs: null };
const reasonOf = (told: Partial<typeof NOTHING>): string =>
  failureOfError({ ...NOTHING, ...told }, []).reason;

test.each([
  // In vendors' words: about our key, or what it belongs to.
  ["account", "unsupported_country_region_territory", "Country, region, or territory not supported"],
  ["account", "", "You do not have access to the organization tied to the API key."],
  ["account", "UnrecognizedClientException", "The security token included in the request is invalid."],
  ["account", "AccessDeniedException", "Your account is not authorized to invoke this API operation."],
  ["account", "permission_error", "This organization has been disabled."],
  // About one model.
  ["rejected", "model_not_found", "Project `proj_1` does not have access to model `gpt-5`"],
  ["rejected", "AccessDeniedException", "You don't have access to the model with the specified model ID."],
  // About one request.
  [
    "content_filter",
    "",
    "Content violates usage guidelines. Team: t, API key ID: k, Failed check: SAFETY_CHECK_TYPE_BIO",
  ],
  ["content_filter", "permission-denied", "Content violates usage guidelines."],
  ["content_filter", "", "Input was flagged"],
  ["rejected", "PERMISSION_DENIED", 'No rights to "my account key"'],
  ["rejected", "forbidden", ""],
] as const)("a 403 is %s, by reply and by event: %s %s", (reason, code, message) => {
  expect(reasonOf({ status: 403, code, message })).toBe(reason);
  if (/permission|forbidden|AccessDenied/.test(code))
    expect(reasonOf({ status: 0, code, message })).toBe(reason);
});

test("words far behind the beginning of a message, or of a code, say nothing", () => {
  const quoted = "a quoted prompt, ".repeat(200);
  expect(reasonOf({ message: `${quoted}maximum context length` })).toBe("context_length");
  expect(reasonOf({ code: `${quoted}context_length` })).toBe("context_length");
  const much = quoted.repeat(3);
  expect(reasonOf({ message: `${much}maximum context length` })).toBe("rejected");
  expect(reasonOf({ code: `${much}context_length` })).toBe("rejected");
});
