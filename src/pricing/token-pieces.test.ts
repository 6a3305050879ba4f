import { afterEach, expect, mock, spyOn, test } from "bun:test";
import { countText } from "./token-pieces.ts";
import { Vocabulary } from "./vocabulary.ts";

afterEach(() => mock.restore());

test("tables that could not be read are read again at the next count", async () => {
  spyOn(Vocabulary, "load").mockRejectedValueOnce(new Error("EIO"));
  expect(await countText("hello world", "cl100k_base").catch(String)).toBe("Error: EIO");
  expect(await countText("hello world", "cl100k_base")).toBe(2);
});
