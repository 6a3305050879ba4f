// The page's own record of its painting, shifting and responding, from its first moment on.
import type { Page } from "playwright-core";

/** For every page opened afterwards: `page.addInitScript(OBSERVED)`. */
export const OBSERVED = `
  window.seen = { paintMs: 0, moved: 0, clickMs: 0, sources: [] };
  const nameOf = (node) => node?.nodeType === 1 ? node.tagName.toLowerCase() + "." + String(node.className?.baseVal ?? node.className).split(" ").slice(0, 3).join(".") : String(node?.nodeName);
  new PerformanceObserver((list) => { for (const entry of list.getEntries()) seen.paintMs = entry.startTime; })
    .observe({ type: "largest-contentful-paint", buffered: true });
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources, startTime } of list.getEntries()) {
      if (hadRecentInput) continue;
      seen.moved += value;
      for (const { node, previousRect: from, currentRect: to } of sources)
        seen.sources.push(Math.round(startTime) + " ms, " + value.toFixed(3) + ": " + nameOf(node) + " " + [from.x, from.y, from.height, to.x, to.y, to.height].map(Math.round).join(" "));
    }
  }).observe({ type: "layout-shift", buffered: true });
  new PerformanceObserver((list) => { for (const { name, duration } of list.getEntries()) if (name === "click") seen.clickMs = Math.max(seen.clickMs, duration); })
    .observe({ type: "event", durationThreshold: 16, buffered: true });`;

export interface Seen {
  paintMs: number;
  /** The sum of all layout shifts, which is at least the worst window of them. */
  moved: number;
  clickMs: number;
  /** What moved, when, from where to where. */
  sources: string[];
}

export const seenBy = (page: Page): Promise<Seen> => page.evaluate<Seen>("window.seen");
