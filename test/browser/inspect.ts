// One state of a page as everybody may meet it: axe finds nothing in light and dark, nothing is wider than a narrow
// screen, and the browser complains about nothing.
import { expect } from "bun:test";
import { DESKTOP, NARROW, type Visitor } from "./dashboard.ts";

/** `about` is what the browser may complain of: the refusal that the state shows. */
export async function inspect(
  visitor: Visitor,
  state: string,
  { about }: { about?: RegExp } = {},
): Promise<void> {
  for (const scheme of ["light", "dark"] as const) {
    await visitor.scheme(scheme);
    expect({ state, scheme, axe: await visitor.axe() }).toEqual({ state, scheme, axe: [] });
  }
  await visitor.resize(NARROW);
  expect({ state, overflow: await visitor.overflow() }).toEqual({ state, overflow: 0 });
  await visitor.resize(DESKTOP);
  const complained = visitor.complained(about && { about });
  expect({ state, complained }).toEqual({ state, complained: [] });
}
