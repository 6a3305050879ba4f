// An OpenTelemetry collector in this process: accepts OTLP over HTTP in JSON and keeps it as it came. It can be down,
// slow or answer with errors.
import type { Config } from "../../src/config/config.ts";
import { waitFor } from "./wait.ts";

interface Told {
  key: string;
  value: {
    stringValue?: string;
    intValue?: string;
    doubleValue?: number;
    boolValue?: boolean;
    arrayValue?: { values: { stringValue: string }[] };
  };
}

interface ExportJson {
  resourceSpans: {
    resource: { attributes: Told[] };
    scopeSpans: { spans: (Omit<CollectedSpan, "attributes"> & { attributes: Told[] })[] }[];
  }[];
}

export interface CollectedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: Record<string, string | number | boolean | string[] | undefined>;
  status?: { code: number };
}

type Tracing = NonNullable<Config["tracing"]>;

export class Collector {
  /** How it answers. */
  behave: (request: Request) => Response | Promise<Response> = () => Response.json({});
  readonly spans: CollectedSpan[] = [];
  readonly resources: CollectedSpan["attributes"][] = [];
  /** Each body, and the headers that it came with. */
  readonly bodies: string[] = [];
  readonly headers: Headers[] = [];
  private readonly server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => this.take(request),
  });

  get url(): string {
    return `http://127.0.0.1:${this.server.port}`;
  }

  /** The configuration of a gateway that sends all spans here, without delay. */
  tracing(otherwise: Partial<Tracing> = {}): Tracing {
    return {
      url: `${this.url}/v1/traces`,
      headers: {},
      resource: { "service.name": "tollgate" },
      sampling: { sampler: "always_on", ratio: 1 },
      timeoutMs: 2_000,
      intervalMs: 20,
      ...otherwise,
    };
  }

  /** The spans of one trace, once there are that many. */
  async trace(traceId: string, count: number): Promise<CollectedSpan[]> {
    const found = (): CollectedSpan[] => this.spans.filter((span) => span.traceId === traceId);
    await waitFor(() => Promise.resolve(found().length >= count), `${count} spans of ${traceId}`);
    return found();
  }

  async stop(): Promise<void> {
    await this.server.stop(true);
  }

  private async take(request: Request): Promise<Response> {
    const text = await request.text();
    this.bodies.push(text);
    this.headers.push(request.headers);
    const reply = await this.behave(request);
    if (reply.ok) this.keep(JSON.parse(text) as ExportJson);
    return reply;
  }

  private keep({ resourceSpans }: ExportJson): void {
    for (const { resource, scopeSpans } of resourceSpans) {
      this.resources.push(read(resource.attributes));
      for (const { spans } of scopeSpans)
        this.spans.push(...spans.map((span) => ({ ...span, attributes: read(span.attributes) })));
    }
  }
}

const read = (told: readonly Told[]): CollectedSpan["attributes"] =>
  Object.fromEntries(
    told.map(({ key, value }) => [
      key,
      value.stringValue ??
        (value.intValue === undefined ? undefined : Number(value.intValue)) ??
        value.doubleValue ??
        value.boolValue ??
        value.arrayValue?.values.map(({ stringValue }) => stringValue),
    ]),
  );
