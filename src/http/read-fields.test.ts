// What a caller hears about fields that do not fit, above all of callers of another version: pages and programs that were
// there before the gateway was updated leave out what is new, and send what is gone.
import { expect, test } from "bun:test";
import { z } from "zod";
import { version } from "../api/shapes/fields.ts";
import { Refusal } from "../domain/refusals.ts";
import { readFields } from "./read-fields.ts";

const INPUT = z.strictObject({ name: z.string(), version });

function refusalOf(sent: object): { code: string; param: unknown; message: string } {
  try {
    readFields(INPUT, sent);
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
  expect(refusalOf({ name: 1, version: "v" }).message).toBe(
    "name: Invalid input: expected string, received number",
  );
});

test("a change of a page that does not know versions yet is told to come from a page that does", () => {
  const { param, message } = refusalOf({ name: "n" });
  expect([param, message]).toEqual([
    "version",
    "version: is required, so that nobody's change is overwritten. A page that was loaded before the gateway was updated does not send it: load it anew",
  ]);
});
