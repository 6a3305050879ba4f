// A refusal speaks of the fields that this surface's callers wrote.
import { expect, test } from "bun:test";
import { Refusal } from "../../../domain/refusals.ts";
import { printMessageError } from "./message-error.ts";

const printed = (refusal: Refusal): { error: { message: string; param: string | null } } =>
  JSON.parse(printMessageError(refusal, "req_1", null)) as ReturnType<typeof printed>;

test.each([
  ["response_format", "output_config.format"],
  ["reasoning_effort", "output_config.effort"],
  ["stop[1]", "stop_sequences[1]"],
  ["user", "metadata.user_id"],
  ["messages[2].content[0]", "messages[2].content[0]"],
  ["max_tokens", "max_tokens"],
])("%s is called %s here, in its words and in `param`", (param, here) => {
  const { error } = printed(
    new Refusal("unsupported_value", `\`${param}\` is not open. Send \`none\`.`, { param }),
  );
  expect(error).toMatchObject({ message: `\`${here}\` is not open. Send \`none\`.`, param: here });
});

test("a word that is no field stays, and so does a field that is none here", () => {
  const text = "`stop` is a field of chat completions. Use `stop_sequences`.";
  expect(printed(new Refusal("unknown_parameter", text, { param: "stop" })).error).toMatchObject({
    message: text,
    param: "stop",
  });
  const other = "`tool_choice` cannot demand a tool: send `auto`, and let the `user` say it.";
  expect(printed(new Refusal("unsupported_value", other, { param: "tool_choice" })).error.message).toBe(
    other,
  );
  expect(printed(new Refusal("overloaded", "The gateway is stopping.")).error.param).toBeNull();
});
