// Many who ask the same of one thing each, answered together: those who ask in one turn of the event loop share a question.

/** What is known of each; who is not in it has `nothing`. One that cannot be read throws, and its own asker is told. */
export type ById<Value> = ReadonlyMap<string, () => Value>;

export interface GatherPorts<Value> {
  /** So many in one question. */
  atMost: number;
  /** Of each of them once. */
  ask: (ids: readonly string[]) => Promise<ById<Value>>;
  nothing: Value;
}

/** Asks for one, together with whoever else asks in this turn. */
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
