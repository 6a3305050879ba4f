// Batches lookups of single ids: all lookups made in one turn of the event loop share a query.

/**
 * The result for each id; a missing id has the value `nothing`. A value that cannot be read throws, and only
 * its caller sees the error.
 */
export type ById<Value> = ReadonlyMap<string, () => Value>;

export interface GatherPorts<Value> {
  /** The maximum number of ids in one query. */
  atMost: number;
  /** Called with each id once. */
  ask: (ids: readonly string[]) => Promise<ById<Value>>;
  nothing: Value;
}

/** Returns a function that looks up one id together with others of the same turn. */
export function gather<Value>({ atMost, ask, nothing }: GatherPorts<Value>): (id: string) => Promise<Value> {
  let waiting: Question<Value> | null = null;
  const begin = (): Question<Value> => {
    const ids = new Set<string>();
    const begun = new Promise<void>((resolve) => setImmediate(resolve));
    const found = begun.then(() => {
      if (waiting?.ids === ids) waiting = null;
      return ask([...ids]);
    });
    return { ids, found };
  };
  return async (id) => {
    if (waiting === null || (waiting.ids.size >= atMost && !waiting.ids.has(id))) waiting = begin();
    waiting.ids.add(id);
    const read = (await waiting.found).get(id);
    return read === undefined ? nothing : read();
  };
}

interface Question<Value> {
  ids: Set<string>;
  found: Promise<ById<Value>>;
}
