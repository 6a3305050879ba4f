// Records what React renders again, as it reports to its developer tools: for tests that something is left alone.
import type { Page } from "playwright-core";

/** React's flag for a component that ran for a commit. */
const RAN = 1;

/**
 * For every page opened afterwards: `page.addInitScript(DRAWN)`. Counts components that run again below a chart or in
 * the rows of a table that were there before, as long as the page is the same; an untouched part of the tree is the
 * identical object.
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

/** The number of components that ran again, in charts and in table rows. */
export interface Drawn {
  chart: number;
  rows: number;
}

/**
 * So many frames without rendering count as rest: a chart is first rendered without its size, and again once that is
 * measured.
 */
const REST_FRAMES = 20;
const PATIENCE_MS = 60_000;

/** True once nothing has been rendered for a while; false if that does not happen in time. Counting starts then. */
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

/** Counts what is rendered again on this page, from rest on, during an action, up to the page that it leads to. */
export async function drawnWhile(page: Page, act: () => Promise<void>): Promise<Drawn> {
  if (!(await page.evaluate<boolean>(RESTED))) throw new Error(`${page.url()} is drawn again and again`);
  await act();
  return page.evaluate<Drawn>("({ chart: drawn.chart, rows: drawn.rows })");
}
