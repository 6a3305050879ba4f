// The outcomes of requests as metrics by route: duration, usage, holds and cost. Labels come from published
// releases, never from callers. Money is summed in whole nano-dollars and printed exactly.
import { formatUsd, nanoUsd } from "../domain/money.ts";
import { GEN_AI_METRIC, METRIC_LABEL } from "../domain/telemetry-names.ts";
import { Histogram, labelText, metricHead } from "./histogram.ts";

/** The bucket bounds of the conventions, for tokens and for seconds. */
const TOKENS = [
  1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864,
];
const SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const FIRST_SECONDS = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

/** Labels of a published release, with the conventions' names for its provider and operation. */
export interface RouteLabels {
  model: string;
  provider: string;
  route: string;
  surface: string;
  operation: string;
  providerName: string;
}

/** One settled request: money in nano-USD, times in seconds. */
export interface SettledFigures {
  inputTokens: number;
  outputTokens: number;
  charge: bigint;
  variance: bigint;
  seconds: number;
  /** Streams only; null if there was no first part. */
  firstPartSeconds: number | null;
}

/**
 * The number of pairs of route and surface that get their own histograms, in the order of their first request
 * since the start. Each prints about a hundred lines, so without a limit thousands of routes would print tens
 * of megabytes at each scrape.
 */
export const OWN_HISTOGRAMS = 200;
/** Replaces the route, model and provider of all further routes; no route has this name. */
const OTHER = "other";

/** Histograms of one route on one surface, or of all further routes there. */
class RouteHistograms {
  private readonly duration = new Histogram(SECONDS);
  private readonly firstPart = new Histogram(FIRST_SECONDS);
  private readonly input = new Histogram(TOKENS);
  private readonly output = new Histogram(TOKENS);
  /** Calls by class of failure; null means answered. */
  private readonly calls = new Map<string | null, Histogram>();
  private readonly own: string;
  private readonly genAi: string;

  constructor(labels: RouteLabels) {
    const { model, route, surface, operation, providerName } = labels;
    this.own = ownLabels(labels);
    this.genAi = labelText({
      [METRIC_LABEL.operation]: operation,
      [METRIC_LABEL.provider]: providerName,
      [METRIC_LABEL.requestModel]: model,
      route,
      surface,
    });
  }

  settled(figures: SettledFigures): void {
    this.duration.observe(figures.seconds);
    this.input.observe(figures.inputTokens);
    this.output.observe(figures.outputTokens);
    if (figures.firstPartSeconds !== null) this.firstPart.observe(figures.firstPartSeconds);
  }

  called(errorClass: string | null, seconds: number): void {
    let calls = this.calls.get(errorClass);
    if (calls === undefined) this.calls.set(errorClass, (calls = new Histogram(SECONDS)));
    calls.observe(seconds);
  }

  /** The histogram's lines of one metric. */
  lines(metric: HistogramName): string {
    const { name } = HISTOGRAMS[metric];
    switch (metric) {
      case "duration":
        return this.duration.lines(name, this.own);
      case "firstPart":
        return this.firstPart.lines(name, this.own);
      case "tokens":
        return [
          this.input.lines(name, this.typed("input")),
          this.output.lines(name, this.typed("output")),
        ].join("");
      case "calls":
        return [...this.calls].map(([error, calls]) => calls.lines(name, this.failedWith(error))).join("");
      case "firstToken":
        return this.firstPart.lines(name, this.genAi);
    }
  }

  private typed(type: "input" | "output"): string {
    return `${this.genAi},${METRIC_LABEL.tokenType}="${type}"`;
  }

  private failedWith(errorClass: string | null): string {
    return errorClass === null ? this.genAi : `${this.genAi},${METRIC_LABEL.errorType}="${errorClass}"`;
  }
}

/** Figures of one route on one surface; money is always counted separately. */
export class RouteFigures {
  private charged = 0n;
  private variance = 0n;
  private readonly own: string;

  constructor(
    labels: RouteLabels,
    private readonly histograms: RouteHistograms,
  ) {
    this.own = ownLabels(labels);
  }

  settled(figures: SettledFigures): void {
    this.histograms.settled(figures);
    this.charged += figures.charge;
    this.variance += figures.variance;
  }

  /** Records that a call ended; `errorClass` is from a closed list. */
  called(errorClass: string | null, seconds: number): void {
    this.histograms.called(errorClass, seconds);
  }

  /** The line of one sum. */
  line(sum: SumName): string {
    return `${SUMS[sum].name}{${this.own}} ${formatUsd(nanoUsd(this[sum]))}\n`;
  }
}

const ownLabels = ({ model, provider, route, surface }: RouteLabels): string =>
  labelText({ model, provider, route, surface });

const HISTOGRAMS = {
  duration: {
    name: "tollgate_request_duration_seconds",
    help: "Time from admission to settlement of settled requests, by the route that served them.",
  },
  firstPart: {
    name: "tollgate_first_part_seconds",
    help: "Time from admission to the first part of the answer, of settled streams.",
  },
  tokens: { name: GEN_AI_METRIC.tokenUsage, help: "Tokens that settled requests were charged for." },
  calls: {
    name: GEN_AI_METRIC.operationDuration,
    help: "Duration of calls to providers; failed calls carry the class of failure.",
  },
  firstToken: {
    name: GEN_AI_METRIC.timeToFirstToken,
    help: "The same as tollgate_first_part_seconds, under the conventions' name.",
  },
} as const;
type HistogramName = keyof typeof HISTOGRAMS;

const SUMS = {
  charged: { name: "tollgate_charged_usd_total", help: "US dollars that settled requests were charged." },
  variance: {
    name: "tollgate_variance_usd_total",
    help: "US dollars of usage above what was charged: the platform's loss.",
  },
} as const;
type SumName = keyof typeof SUMS;

/**
 * Figures per surface and route, for Prometheus. Routes beyond the number with their own histograms share one
 * set per surface.
 */
export class RequestFigures {
  /** By surface and route. */
  private readonly surfaces = new Map<string, Map<string, RouteFigures>>();
  private readonly histograms: RouteHistograms[] = [];
  /** By surface: the histograms shared by all further routes. */
  private readonly others = new Map<string, RouteHistograms>();
  private held = 0n;
  private readonly resolved = { settled: 0, released: 0 };

  /** Undefined if `open` has not been called for it. */
  route(route: string, surface: string): RouteFigures | undefined {
    return this.surfaces.get(surface)?.get(route);
  }

  open(labels: RouteLabels): RouteFigures {
    const figures = new RouteFigures(labels, this.histogramsFor(labels));
    const routes = this.surfaces.get(labels.surface) ?? new Map<string, RouteFigures>();
    this.surfaces.set(labels.surface, routes.set(labels.route, figures));
    return figures;
  }

  /** Records that a request was resolved; `held` is what its admission held. */
  ended(outcome: "settled" | "released", held: bigint): void {
    this.resolved[outcome] += 1;
    this.held += held;
  }

  print(): string {
    const routes = [...this.surfaces.values()].flatMap((own) => [...own.values()]);
    const histograms = [...this.histograms, ...this.others.values()];
    return [
      metricHead("tollgate_resolved_requests_total", "counter", "Admitted requests by how their hold ended."),
      ...Object.entries(this.resolved).map(
        ([outcome, count]) => `tollgate_resolved_requests_total{outcome="${outcome}"} ${count}\n`,
      ),
      metricHead("tollgate_held_usd_total", "counter", "US dollars that resolved requests had held."),
      `tollgate_held_usd_total ${formatUsd(nanoUsd(this.held))}\n`,
      ...namesOf(SUMS).map(
        (sum) =>
          metricHead(SUMS[sum].name, "counter", SUMS[sum].help) +
          routes.map((route) => route.line(sum)).join(""),
      ),
      ...namesOf(HISTOGRAMS).map(
        (metric) =>
          metricHead(HISTOGRAMS[metric].name, "histogram", HISTOGRAMS[metric].help) +
          histograms.map((one) => one.lines(metric)).join(""),
      ),
    ].join("");
  }

  private histogramsFor(labels: RouteLabels): RouteHistograms {
    if (this.histograms.length < OWN_HISTOGRAMS) {
      const own = new RouteHistograms(labels);
      this.histograms.push(own);
      return own;
    }
    const { surface, operation } = labels;
    const known = this.others.get(surface);
    if (known !== undefined) return known;
    const shared = new RouteHistograms({
      model: OTHER,
      provider: OTHER,
      route: OTHER,
      surface,
      operation,
      providerName: OTHER,
    });
    this.others.set(surface, shared);
    return shared;
  }
}

const namesOf = <Row extends object>(rows: Row): (keyof Row)[] => Object.keys(rows) as (keyof Row)[];
