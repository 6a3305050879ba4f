import { expect, test } from "bun:test";
import { parseTraceparent, printTraceparent } from "./traceparent.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN = "00f067aa0ba902b7";

test("a header is read and printed again as it was", () => {
  for (const flags of ["01", "00"]) {
    const text = `00-${TRACE}-${SPAN}-${flags}`;
    const context = parseTraceparent(text);
    expect(context).toEqual({ traceId: TRACE, spanId: SPAN, sampled: flags === "01" });
    expect(context && printTraceparent(context)).toBe(text);
  }
});

test("a later version may append fields", () => {
  expect(parseTraceparent(`cc-${TRACE}-${SPAN}-03-what-is-to-come`)?.sampled).toBe(true);
});

test.each([
  ["nothing", null],
  ["an empty text", ""],
  ["a version that is none", `ff-${TRACE}-${SPAN}-01`],
  ["more than version 00 has", `00-${TRACE}-${SPAN}-01-more`],
  ["a trace of zeros", `00-${"0".repeat(32)}-${SPAN}-01`],
  ["a span of zeros", `00-${TRACE}-${"0".repeat(16)}-01`],
  ["capitals", `00-${TRACE.toUpperCase()}-${SPAN}-01`],
  ["a short trace", `00-${TRACE.slice(1)}-${SPAN}-01`],
  ["a line break", `00-${TRACE}-${SPAN}-01\nx: y`],
  ["a long text", `cc-${TRACE}-${SPAN}-01-${"x".repeat(600)}`],
])("%s is no header", (_, text) => {
  expect(parseTraceparent(text)).toBeNull();
});
