// Spans in the JSON of OTLP over HTTP: ids in hexadecimal, times in nanoseconds as text.

type AttributeValue = string | number | boolean | readonly string[];
export type Attributes = Record<string, AttributeValue>;

/** OTLP's 1, 2 and 3. */
type SpanKind = "internal" | "server" | "client";

export interface Span {
  traceId: string;
  spanId: string;
  parentId: string | null;
  name: string;
  kind: SpanKind;
  startMs: number;
  endMs: number;
  attributes: Attributes;
  failed: boolean;
}

/** The sender: its resource, and the version of this program. */
export interface Source {
  resource: Record<string, string>;
  version: string;
}

const KINDS: Record<SpanKind, number> = { internal: 1, server: 2, client: 3 };
const STATUS_ERROR = 2;

/** Returns the body of one export. */
export const printExport = (spans: readonly Span[], { resource, version }: Source): string =>
  JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: attributesOf(resource) },
        scopeSpans: [{ scope: { name: "tollgate", version }, spans: spans.map(spanOf) }],
      },
    ],
  });

const spanOf = (span: Span): object => ({
  traceId: span.traceId,
  spanId: span.spanId,
  ...(span.parentId !== null && { parentSpanId: span.parentId }),
  name: span.name,
  kind: KINDS[span.kind],
  startTimeUnixNano: nanoseconds(span.startMs),
  endTimeUnixNano: nanoseconds(Math.max(span.startMs, span.endMs)),
  attributes: attributesOf(span.attributes),
  ...(span.failed && { status: { code: STATUS_ERROR } }),
});

const nanoseconds = (ms: number): string => `${Math.round(ms)}000000`;

const attributesOf = (attributes: Attributes): object[] =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: valueOf(value) }));

function valueOf(value: AttributeValue): object {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value !== "number")
    return { arrayValue: { values: value.map((one) => ({ stringValue: one })) } };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
