// What the audit log keeps before and after a change is JSON; people read `limit_usd 25, name Batch`.
const LONG = 28;

/** Null is an en dash; long values end in an ellipsis, the whole text is for the tooltip. */
export function formatChange(text: string | null): string {
  if (text === null) return "–";
  const value = parsed(text);
  if (typeof value !== "object" || value === null) return short(String(value));
  return Object.entries(value)
    .map(([name, one]) => `${name} ${short(typeof one === "string" ? one : JSON.stringify(one))}`)
    .join(", ");
}

/** A target of two parts, `["operator","INV-1"]`, as `operator: INV-1`. */
export function formatTarget(target: string | null): string {
  const value = target === null ? null : parsed(target);
  return Array.isArray(value) ? value.join(": ") : (target ?? "–");
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const short = (text: string): string => (text.length > LONG ? `${text.slice(0, LONG - 1)}…` : text);
