// What a Messages caller calls the fields that go upstream as they were written (wire.md §8.3).
import type { ChatRequest } from "../../../domain/chat-request.ts";

/** Providers' names for what this surface calls otherwise. */
const RENAMED: [string, string][] = [
  ["stop", "stop_sequences"],
  ["user", "metadata.user_id"],
  ["reasoning_effort", "output_config.effort"],
  ["response_format", "output_config.format"],
  ["max_completion_tokens", "max_tokens"],
  ["parallel_tool_calls", "tool_choice.disable_parallel_tool_use"],
];

/** By the provider's name for it, the caller's. */
export function sentInMessages({ native }: ChatRequest): ReadonlyMap<string, string> {
  const names = Object.keys(native?.body ?? {});
  const top = new Set(names);
  return new Map([
    ...names.filter((name) => name !== "model").map((name) => [name, name] as const),
    ...RENAMED.filter(([, ours]) => top.has(ours.split(".")[0] ?? "")),
  ]);
}
