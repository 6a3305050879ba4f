// What the audit log keeps of a change, as people read it.

/** A target of two parts, `["operator","INV-1"]`, as `operator: INV-1`; behind a request's id, where it gives that back. */
export function formatTarget(target: string | null): string {
  if (target === null) return "–";
  const [, first = "", pair = target] = /^(\S+) (\[.*\])$/s.exec(target) ?? [];
  const value = parsed(pair);
  const read = Array.isArray(value) ? value.join(": ") : pair;
  return first === "" ? read : `${first}, ${read}`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
