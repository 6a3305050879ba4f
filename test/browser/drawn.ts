// What React draws again, as it tells its developer tools: for tests that say that something is left alone.
import type { Page } from "playwright-core";

/** React marks a component that ran for a commit with it. */
const RAN = 1;

/**
 * Of every page that is opened after it: `page.addInitScript(DRAWN)`. A component below a chart or in the rows of a table that
 * stood there already and ran once more is counted, as long as the page is the same; a part of the tree that was left alone is
 * the very same object.
 */
export const DRAWN = `
  window.drawn = { page: "", chart: 0, rows: 0 };
  const kindOf = ({ type, memoizedProps }) =>
    type === "tbody" ? "rows" : type === "div" && memoizedProps?.className === "chart" ? "chart" : null;
  const walk = (fiber, inside) => {
    const before = fiber.alternate;
    const within = kindOf(fiber) ?? inside;
    if (before !== null && within !== null && typeof fiber.type === "function" && (fiber.flags & ${RAN}) !== 0) drawn[within] += 1;
    if (before !== null && before.child === fiber.child) return;
    for (let child = fiber.child; child !== null; child = child.sibling) walk(child, within);
  };
  window.__REACT_DEVTOOLS_GLOBAL_HOOK__ = {
    supportsFiber: true,
    inject: () => 1,
    onCommitFiberRoot: (_, { current }) => document.title === drawn.page && walk(current, null),
    onCommitFiberUnmount: () => {},
  };`;

/** How many components ran again, in charts and in the rows of tables. */
export interface Drawn {
  chart: number;
  rows: number;
}

/** So many frames without a drawing are rest: a chart is drawn first without its size, and anew when that is measured. */
const REST_FRAMES = 20;
const PATIENCE_MS = 10_000;

/** True once nothing has been drawn again for a while; false where that does not happen in time. From then on is counted. */
const RESTED = `new Promise((resolve) => {
  const late = performance.now() + ${PATIENCE_MS};
  let still = 0;
  const begin = () => (drawn = { page: document.title, chart: 0, rows: 0 });
  const look = () => {
    still = drawn.chart + drawn.rows === 0 ? still + 1 : 0;
    if (still === 0) begin();
    if (still === ${REST_FRAMES} || performance.now() > late) resolve(still === ${REST_FRAMES});
    else requestAnimationFrame(look);
  };
  begin();
  look();
})`;

/** What is drawn again of this page, once it is at rest, while something is done, up to the page that it leads to. */
export async function drawnWhile(page: Page, act: () => Promise<void>): Promise<Drawn> {
  if (!(await page.evaluate<boolean>(RESTED))) throw new Error(`${page.url()} is drawn again and again`);
  await act();
  return page.evaluate<Drawn>("({ chart: drawn.chart, rows: drawn.rows })");
}
