// Checks one state of a page: axe finds nothing in light and dark, nothing is wider than a narrow screen, no label is
// cut there, and the browser complains about nothing.
import { expect } from "bun:test";
import { DESKTOP, NARROW, type Visitor } from "./dashboard.ts";

/** Texts of buttons and badges that do not fit. */
const CUT_LABELS = `[...document.querySelectorAll(".mantine-Button-label, .mantine-Badge-label")]
  .filter((label) => label.scrollWidth > label.clientWidth)
  .map((label) => label.textContent)`;

/** `about` is what the browser may complain about: the refusal that the state shows. */
export async function inspect(
  visitor: Visitor,
  state: string,
  { about }: { about?: RegExp } = {},
): Promise<void> {
  // The current scheme comes first, because each change repaints everything. Schemes differ only in colours;
  // everything else that axe checks is found in the first one.
  const first = visitor.colorScheme;
  for (const scheme of [first, first === "light" ? "dark" : "light"] as const) {
    await visitor.scheme(scheme);
    const found = await visitor.axe(scheme === first ? "all" : "colours");
    expect({ state, scheme, axe: found }).toEqual({ state, scheme, axe: [] });
  }
  await visitor.resize(NARROW);
  expect({ state, overflow: await visitor.overflow() }).toEqual({ state, overflow: 0 });
  expect({ state, cut: await visitor.page.evaluate<string[]>(CUT_LABELS) }).toEqual({ state, cut: [] });
  await visitor.page.setViewportSize(DESKTOP);
  const complained = visitor.complained(about && { about });
  expect({ state, complained }).toEqual({ state, complained: [] });
}
