// What the vendor rejects for one generation and accepts for another, from its migration guides. Nothing is known of
// models with other names, and nothing rejected.
import type { ClaudeCall } from "./schema.ts";

const VERSION = /claude-[a-z]+-(\d)(?:-(\d)(?!\d))?(?!\d)/;

/** Returns what is wrong with the call for this model. */
export function generationFault({ model, messages, thinking, ...call }: ClaudeCall): string | null {
  const [named, major = "", minor = "0"] = VERSION.exec(model) ?? [];
  if (named === undefined) return null;
  const version = Number(major) + Number(minor) / 10;
  const sonnet = named.includes("sonnet");
  if (messages.some(({ role }) => role === "system") && version < (sonnet ? 5 : 4.8))
    return "messages: role 'system' is not supported on this model";
  if (thinking?.type === "adaptive" && version < 4.6)
    return "thinking.type: adaptive is not supported on this model";
  if (thinking?.type === "enabled" && version >= (sonnet ? 5 : 4.7))
    return "thinking.type: enabled is not supported on this model; use adaptive";
  const late = version >= 5.5 && !named.includes("haiku");
  if (thinking?.type === "disabled" && late) return "thinking.type: disabled is not supported on this model";
  if (thinking?.type === "between_tools" && !(late && sonnet))
    return "thinking.type: between_tools is not supported on this model";
  if (thinking?.type === "between_tools" && /xhigh|max/.test(call.output_config?.effort ?? ""))
    return "output_config.effort: is not supported with thinking.type between_tools";
  if (call.output_config?.effort !== undefined && version < 4.5)
    return "output_config.effort: This model does not support the effort parameter";
  const newest = version >= (sonnet ? 5 : 4.7);
  for (const name of ["temperature", "top_p", "top_k"] as const)
    if (newest && call[name] !== undefined) return `${name}: is not supported on this model`;
  if (version >= 4.5 && call.temperature !== undefined && call.top_p !== undefined)
    return "top_p: `temperature` and `top_p` cannot both be specified for this model";
  return null;
}
