// The chart of a result: one group of horizontal bars per compared figure, one bar per peer, with the median at its
// end.
import { number } from "./report.ts";
import type { Figure } from "./figure.ts";

const COMPARED = new Set([
  "CPU per 1,000 requests",
  "CPU per chunk",
  "latency p50, added",
  "latency p99, added",
  "first event p50, added",
]);
const COLORS: Record<string, string> = {
  tollgate: "#0f766e",
  "tollgate-postgres": "#0369a1",
  portkey: "#f59e0b",
  "bare-proxy": "#94a3b8",
  nginx: "#cbd5e1",
};
const WIDTH = 760;
const LABEL = 110;
const BAR = 16;

interface Group {
  title: string;
  bars: Figure[];
}

/** An SVG document; groups with fewer than two peers are left out. */
export function chart(figures: Figure[], caption: string): string {
  const groups = groupsOf(figures);
  const parts: string[] = [];
  let y = 44;
  for (const group of groups) {
    parts.push(text(16, y, group.title, "bold"));
    y += 8;
    const longest = Math.max(...group.bars.map((bar) => bar.spread.median), Number.MIN_VALUE);
    for (const bar of group.bars) {
      parts.push(barOf(bar, y, longest));
      y += BAR + 6;
    }
    y += 24;
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${y}" viewBox="0 0 ${WIDTH} ${y}" font-family="system-ui, sans-serif" font-size="12">`,
    `<rect width="100%" height="100%" fill="#ffffff"/>`,
    text(16, 20, caption, "normal"),
    ...parts,
    "</svg>",
  ].join("\n");
}

function groupsOf(figures: Figure[]): Group[] {
  const groups = new Map<string, Group>();
  for (const figure of figures.filter(({ name }) => COMPARED.has(name))) {
    const title = `${figure.section}: ${figure.name} (${figure.unit})`;
    const group = groups.get(title) ?? { title, bars: [] };
    group.bars.push(figure);
    groups.set(title, group);
  }
  return [...groups.values()].filter((group) => group.bars.length > 1);
}

function barOf(figure: Figure, y: number, longest: number): string {
  const scale = (WIDTH - LABEL - 90) / longest;
  const width = Math.max(1, figure.spread.median * scale);
  return [
    text(16, y + 12, figure.peer, "normal"),
    `<rect x="${LABEL}" y="${y}" width="${width.toFixed(1)}" height="${BAR}" rx="2" fill="${COLORS[figure.peer] ?? "#64748b"}"/>`,
    text(LABEL + width + 6, y + 12, number(figure.spread.median), "normal"),
  ].join("\n");
}

function text(x: number, y: number, content: string, weight: "normal" | "bold"): string {
  const escaped = content.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return `<text x="${x.toFixed(1)}" y="${y}" font-weight="${weight}" fill="#0f172a">${escaped}</text>`;
}
