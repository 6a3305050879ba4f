// What a stream has delivered: the count that charges, and the lower bound that the log takes while the tokenizer loads.
import { afterAll, expect, test } from "bun:test";
import { countTokens, stopCounting } from "../pricing/tokens.ts";
import { Delivered } from "./delivered.ts";

afterAll(stopCounting);
const add = (delivered: Delivered, text: string): void => delivered.add({ type: "text", choice: 0, text });

test("the log counts what was accepted, without the last word, which may go on", async () => {
  const delivered = new Delivered("o200k_base", 1000);
  for (const text of ["The", " quick", " brown", " fo"]) add(delivered, text);
  delivered.accept();
  add(delivered, "x jumps");
  const first = delivered.countAccepted();
  expect(first.atLeast).toBe(3);
  expect(await first.exactly).toBe(3);
  delivered.accept();
  const second = delivered.countAccepted();
  expect(await second.exactly).toBe(await countTokens(["The quick brown fox"], "o200k_base"));
  expect(await delivered.count()).toBe(await countTokens(["The quick brown fox jumps"], "o200k_base"));
});

test("the lower bound is never above the count, and knows what a full count has folded", async () => {
  const delivered = new Delivered("o200k_base", 1000);
  for (const text of ["antidisestablishmentarianism", " \n\n", " 你好世界", " 12345678901234567890"])
    add(delivered, text);
  delivered.accept();
  const counted = delivered.count(); // as when the provider may have passed its maximum
  const { atLeast, exactly } = delivered.countAccepted();
  expect(atLeast).toBe(3);
  expect(await exactly).toBe(await counted);
  expect(atLeast).toBeLessThanOrEqual(await counted);
});
