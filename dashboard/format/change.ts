// What the audit log keeps of a change, as people read it.

/** A target of two parts, `["operator","INV-1"]`, as `operator: INV-1`; behind a request's id, where it gives that back. */
export function formatTarget(target: string | null): string {
  if (target === null) return "–";
  const { request, pair } = partsOf(target);
  const value = parsed(pair);
  const read = Array.isArray(value) ? value.join(": ") : pair;
  return request === null ? read : `${request}, ${read}`;
}

/** What credits go by, `INV-1` of `["operator","INV-1"]`, and the request that they are given back for. */
export function targetOf(target: string): { request: string | null; reference: string } {
  const { request, pair } = partsOf(target);
  const value = parsed(pair);
  return { request, reference: Array.isArray(value) ? String(value.at(-1)) : pair };
}

function partsOf(target: string): { request: string | null; pair: string } {
  const [, request = null, pair = target] = /^(\S+) (\[.*\])$/s.exec(target) ?? [];
  return { request, pair };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
