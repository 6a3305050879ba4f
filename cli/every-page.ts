// All rows of a list of the operator API: page after page, as one answer.
import type { AdminTarget, Answer, Input } from "../src/api/client.ts";

interface Page {
  data: unknown[];
  next_cursor: string | null;
}

/** The targets that answer with a page. */
export type ListTarget = {
  [T in AdminTarget]: Answer<T> extends Page ? ("cursor" extends keyof Input<T> ? T : never) : never;
}[AdminTarget];

interface Answered<T extends ListTarget> {
  /** The gateway's own text if there is only one page. */
  text: string;
  value: Answer<T>;
}

/** `call`: asks the gateway for one page. */
export async function everyPage<T extends ListTarget>(
  call: (target: T, input: Input<T>) => Promise<Answered<T>>,
  target: T,
  input: Input<T>,
): Promise<Answered<T>> {
  const first = await call(target, input);
  const pages = [pageIn<T>(first.value)];
  for (let next = pages[0]?.next_cursor; next; next = pages.at(-1)?.next_cursor) {
    const { value } = await call(target, { ...input, cursor: next });
    pages.push(pageIn<T>(value));
  }
  if (pages.length === 1) return first;
  const data = pages.flatMap((page) => page.data);
  const value = { ...pages[0], data, next_cursor: null } as unknown as Answer<T>;
  return { text: JSON.stringify(value), value };
}

/** What every answer of such a target is. */
export const pageIn = <T extends ListTarget>(value: Answer<T>): Page => value as unknown as Page;
