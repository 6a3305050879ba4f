// What the audit log keeps of a change, as people read it.

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
