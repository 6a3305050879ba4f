// `cache_control` beside a part or a tool, as clients of Anthropic's write it. What is no such mark says nothing, like every key
// that is not known (wire.md §1.2).
import type { CacheMark } from "../../../domain/chat-request.ts";
import { isJsonObject, type JsonObject } from "../../../domain/read-value.ts";

/** To be spread beside what is marked. */
export function cacheMark({ cache_control: mark }: JsonObject): { cache_control?: CacheMark } {
  if (!isJsonObject(mark) || mark.type !== "ephemeral") return {};
  const { ttl } = mark;
  return { cache_control: { type: "ephemeral", ...((ttl === "5m" || ttl === "1h") && { ttl }) } };
}
