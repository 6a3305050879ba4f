// A histogram with fixed bounds, as Prometheus prints it. An observation adds to three numbers: unlike the
// library's, it allocates nothing on the request path.

/** Counts per bound, and the sum of the observations, since the start. */
export class Histogram {
  private readonly counts: Float64Array;
  private sum = 0;

  /** `bounds` ascend; values above the last one count as well. */
  constructor(private readonly bounds: readonly number[]) {
    this.counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    let place = 0;
    while (place < this.bounds.length && value > (this.bounds[place] ?? 0)) place += 1;
    this.counts[place] = (this.counts[place] ?? 0) + 1;
    this.sum += value;
  }

  /** The histogram's lines under this name; `labels` such as `model="a"`, or empty. */
  lines(name: string, labels: string): string {
    const before = labels === "" ? "" : `${labels},`;
    let text = "";
    let seen = 0;
    for (const [place, bound] of [...this.bounds, "+Inf"].entries()) {
      seen += this.counts[place] ?? 0;
      text += `${name}_bucket{${before}le="${bound}"} ${seen}\n`;
    }
    const braced = labels === "" ? "" : `{${labels}}`;
    return `${text}${name}_sum${braced} ${this.sum}\n${name}_count${braced} ${seen}\n`;
  }
}

/** The header lines of a metric. */
export const metricHead = (name: string, type: "counter" | "gauge" | "histogram", help: string): string =>
  `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;

/** `{ model: "a" }` as printed between braces. */
export const labelText = (labels: Record<string, string>): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${value.replace(/[\\"\n]/g, ESCAPED)}"`)
    .join(",");

const ESCAPED = (character: string): string => (character === "\n" ? "\\n" : `\\${character}`);
