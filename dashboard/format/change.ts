// Formats the audit log's records of changes for people.

/**
 * Formats a two-part target such as `["operator","INV-1"]` as `operator: INV-1`, after the request's id if it is a
 * refund.
 */
export function formatTarget(target: string | null): string {
  if (target === null) return "–";
  const { request, pair } = partsOf(target);
  const value = parsed(pair);
  const read = Array.isArray(value) ? value.join(": ") : pair;
  return request === null ? read : `${request}, ${read}`;
}

/** The reference of a credit, `INV-1` of `["operator","INV-1"]`, and the request that it refunds. */
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
