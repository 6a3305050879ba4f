// Only a caller with a valid key leaves a span.
import { expect, test } from "bun:test";
import { Refusal } from "../domain/refusals.ts";
import { NOTHING_READ } from "../domain/request-log.ts";
import { ATTRIBUTE } from "../domain/telemetry-names.ts";
import { chatCompletions } from "../gateway/formats/chat-completions/chat-completions.ts";
import { systemClock } from "../lib/clock.ts";
import type { Span } from "./otlp.ts";
import { Tracing } from "./tracing.ts";

const spansOf = (gateway: string | null): Span[] => {
  const spans: Span[] = [];
  const tracing = new Tracing({
    sampling: { sampler: "always_on", ratio: 1 },
    clock: systemClock,
    exporter: { add: (more) => void spans.push(...more) },
    passedOn: false,
    providerNames: new Map(),
  });
  const trace = tracing.begin(null, 1_000);
  if (trace === null) throw new Error("it is not traced");
  const refusal = new Refusal("model_not_found", "There is no such model.");
  const refused = { kind: "refused", refusal, gateway, headers: {}, asked: NOTHING_READ } as const;
  tracing.concluded(trace, refused, { format: chatCompletions, requestId: "req_01" });
  return spans;
};

test("a refusal of an authenticated key is traced; one of a stranger or for lack of room is not", () => {
  const told = spansOf("{}");
  expect(told.map(({ name }) => name)).toEqual(["POST /v1/chat/completions", "tollgate.admit"]);
  expect(told[0]?.attributes[ATTRIBUTE.surface]).toBe("chat.completions");
  expect(spansOf(null)).toEqual([]);
});
