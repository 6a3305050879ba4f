// The error envelope of this surface: the vendor's error type by status, our code, and field names as this surface has them
// (surfaces.md §2).
import { afterContextSentence } from "../../../domain/context-length.ts";
import type { Refusal } from "../../../domain/refusals.ts";
import { wireJson } from "../../../domain/wire-json.ts";

const TYPES: Record<number, string> = {
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  500: "api_error",
  502: "api_error",
  503: "overloaded_error",
  504: "timeout_error",
};

/** Internal field name → this surface's name. */
const FIELDS: ReadonlyMap<string, string> = new Map([
  ["stop", "stop_sequences"],
  ["response_format", "output_config.format"],
  ["reasoning_effort", "output_config.effort"],
  ["parallel_tool_calls", "tool_choice.disable_parallel_tool_use"],
  ["max_completion_tokens", "max_tokens"],
  ["user", "metadata.user_id"],
]);

/** An unknown parameter keeps the name that the caller wrote. */
function inOurWords(refusal: Refusal): Pick<Refusal, "message" | "param"> {
  const { code, message, param } = refusal;
  if (code === "unknown_parameter") return { message, param };
  if (code === "context_length_exceeded") return { message: contextWords(refusal), param };
  const ours = (path: string): string => {
    const [field = ""] = /^\w+/.exec(path) ?? [];
    return (FIELDS.get(field) ?? field) + path.slice(field.length);
  };
  return {
    message: message.replace(/`([^`\s]+)`/g, (quoted, path: string) =>
      path === param ? `\`${ours(path)}\`` : quoted,
    ),
    param: param === null ? null : ours(param),
  };
}

/**
 * The vendor's own sentences: its clients shorten the conversation, or ask for less, by the figures in them. What our message
 * says after its sentence (why a figure is no count) stays.
 */
function contextWords({ message, details = {} }: Refusal): string {
  const { context_window: window, prompt_tokens: prompt, max_tokens: most } = details;
  if (typeof window !== "number" || typeof prompt !== "number")
    return `prompt is too long: ${message.charAt(0).toLowerCase()}${message.slice(1)}`;
  const said = afterContextSentence(message) ?? "";
  const rest = said === "" ? "" : ` ${said}`;
  if (prompt > window || typeof most !== "number")
    return `prompt is too long: ${prompt} tokens > ${window} maximum${rest}`;
  return `input length and \`max_tokens\` exceed context limit: ${prompt} + ${most} > ${window}, decrease input length or \`max_tokens\` and try again${rest}`;
}

/** `gateway` is JSON text; null for callers without a valid key. */
export function printMessageError(refusal: Refusal, requestId: string, gateway: string | null): string {
  const { code, details, status } = refusal;
  const { message, param } = inOurWords(refusal);
  const type = TYPES[status] ?? "invalid_request_error";
  const error = wireJson({ type, message, code, param, ...(details && { details }) });
  const envelope = `{"type":"error","error":${error},"request_id":${JSON.stringify(requestId)}`;
  return gateway === null ? `${envelope}}` : `${envelope},"gateway":${gateway}}`;
}
