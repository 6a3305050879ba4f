// What a refusal's words mean is read at their beginning: the rest may be megabytes, or a prompt that is quoted.
import { expect, test } from "bun:test";
import { failureOfError } from "./errors.ts";

const NOTHING = { status: 400, code: "", message: "", param: null, retryAfterMs: null };
const reasonOf = (told: Partial<typeof NOTHING>): string =>
  failureOfError({ ...NOTHING, ...told }, []).reason;

test("words far behind the beginning of a message, or of a code, say nothing", () => {
  const quoted = "a quoted prompt, ".repeat(200);
  expect(reasonOf({ message: `${quoted}maximum context length` })).toBe("context_length");
  expect(reasonOf({ code: `${quoted}context_length` })).toBe("context_length");
  const much = quoted.repeat(3);
  expect(reasonOf({ message: `${much}maximum context length` })).toBe("rejected");
  expect(reasonOf({ code: `${much}context_length` })).toBe("rejected");
});
