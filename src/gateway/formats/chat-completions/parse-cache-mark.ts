// `cache_control` on a part or a tool, as Anthropic's clients write it. An invalid mark is ignored, like every unknown key (wire.md
// §1.2).
import type { CacheMark } from "../../../domain/chat-request.ts";
import { isJsonObject, type JsonObject } from "../../../domain/read-value.ts";

/** Returns members to spread into what is marked. */
export function cacheMark({ cache_control: mark }: JsonObject): { cache_control?: CacheMark } {
  if (!isJsonObject(mark) || mark.type !== "ephemeral") return {};
  const { ttl } = mark;
  return { cache_control: { type: "ephemeral", ...((ttl === "5m" || ttl === "1h") && { ttl }) } };
}
