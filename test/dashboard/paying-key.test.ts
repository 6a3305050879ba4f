// The playground's default key is one that can pay.
import { expect, test } from "bun:test";
import { payingKey } from "../../dashboard/pages/playground/paying-key.ts";

const key = (id: string, over: object = {}) => ({
  id,
  scope: "standard" as const,
  blocked_by_limit: false,
  allowed_models: null as string[] | null,
  ...over,
});
const MODEL = { id: "glm-5", tier: "standard" as const };
const chosen = (...keys: ReturnType<typeof key>[]) => payingKey(keys, MODEL)?.id;

test("a key at its limit, of another scope or for other models pays only if there is no other", () => {
  const full = key("full", { blocked_by_limit: true });
  const research = key("research", { scope: "research" });
  const narrow = key("narrow", { allowed_models: ["qwen3"] });
  expect(chosen(research, full, narrow, key("free"))).toBe("free");
  expect(chosen(full, key("own", { allowed_models: ["glm-5"] }))).toBe("own");
  expect(chosen(research, narrow, full)).toBe("full");
  expect(chosen(research, narrow)).toBe("narrow");
  expect(chosen(research)).toBe("research");
  expect(chosen()).toBeUndefined();
});
