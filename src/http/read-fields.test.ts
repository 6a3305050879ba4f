// What a caller is told about invalid fields, above all callers of another version: pages and programs from before an update of the
// gateway leave out what is new, and send what is gone.
import { expect, test } from "bun:test";
import { z } from "zod";
import { version } from "../api/shapes/fields.ts";
import { Refusal } from "../domain/refusals.ts";
import { readFields } from "./read-fields.ts";

const INPUT = z.strictObject({ name: z.string(), version });

function refusalOf(
  sent: object,
  schema: z.ZodObject = INPUT,
): { code: string; param: unknown; message: string } {
  try {
    readFields(schema, sent);
  } catch (error) {
    if (error instanceof Refusal) return { code: error.code, param: error.param, message: error.message };
    throw error;
  }
  throw new Error("it was read");
}

test("a field that is missing is said to be required, one that there is not to be none", () => {
  expect(refusalOf({ version: "v" })).toEqual({
    code: "invalid_request",
    param: "name",
    message: "name: is required",
  });
  expect(refusalOf({ name: "n", version: "v", colour: "red" })).toMatchObject({ code: "unknown_parameter" });
  expect(refusalOf({ name: 1, version: "v" }).message).toBe("name: must be a text");
});

test.each([
  [{ kind: "gift" }, "kind: must be one of grant, purchase"],
  [{ text: "" }, "text: must have at least 1 character"],
  [{ text: "abcd" }, "text: must have at most 3 characters"],
  [{ number: 0 }, "number: must be at least 1"],
  [{ number: 11 }, "number: must be at most 10"],
  [{ number: 1.5 }, "number: must be a whole number"],
  [{ number: "a" }, "number: must be a number"],
  [{ list: ["a", "b", "c"] }, "list: must have at most 2 entries"],
  [{ list: "a" }, "list: must be a list"],
  [{ flag: "no" }, "flag: must be true or false"],
])("%j: %s", (sent, message) => {
  const schema = z.strictObject({
    kind: z.enum(["grant", "purchase"]).optional(),
    text: z.string().min(1).max(3).optional(),
    number: z.int().min(1).max(10).optional(),
    list: z.array(z.string()).max(2).optional(),
    flag: z.boolean().optional(),
  });
  expect(refusalOf(sent, schema).message).toBe(message);
});

test("a change of a page that does not know versions yet is told to come from a page that does", () => {
  const { param, message } = refusalOf({ name: "n" });
  expect([param, message]).toEqual([
    "version",
    "version: is required, so that no one's change is overwritten. A page that was loaded before the gateway was updated does not send it: reload the page",
  ]);
});
