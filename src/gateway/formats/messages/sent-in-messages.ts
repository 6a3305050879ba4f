// A Messages caller's names for the fields that go upstream as written (wire.md §8.3).
import type { ChatRequest } from "../../../domain/chat-request.ts";
import { isJsonObject, type JsonObject } from "../../../domain/read-value.ts";

/** Providers' names for fields that have another name on this surface. */
const RENAMED: readonly [theirs: string, ours: string][] = [
  ["stop", "stop_sequences"],
  ["reasoning_effort", "output_config.effort"],
  ["response_format", "output_config.format"],
  ["max_completion_tokens", "max_tokens"],
  ["parallel_tool_calls", "tool_choice.disable_parallel_tool_use"],
];

/** Fields set here, or sent as a hash. */
const CHANGED: ReadonlySet<string> = new Set(["model", "stream", "metadata"]);

/** The caller's name for a field by the provider's name for it. */
export function sentInMessages({ native }: ChatRequest): ReadonlyMap<string, string> {
  const body = native?.body ?? {};
  return new Map([
    ["system", "messages"],
    ...Object.keys(body)
      .filter((name) => !CHANGED.has(name))
      .map((name) => [name, name] as const),
    ...RENAMED.filter(([, ours]) => wrote(body, ours)),
  ]);
}

function wrote(body: JsonObject, path: string): boolean {
  let at: unknown = body;
  for (const step of path.split(".")) at = isJsonObject(at) ? at[step] : undefined;
  return at !== undefined && at !== null;
}
