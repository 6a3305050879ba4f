// All recordings of the shared fixtures, by the shape they came in.
import { claudeAt } from "../../src/providers/anthropic/anthropic.fixtures.ts";
import { geminiAt } from "../../src/providers/google/google.fixtures.ts";
import { providerAt } from "../../src/providers/openai/openai.fixtures.ts";
import { serverSent, testRecorded } from "./recorded.ts";

testRecorded("chat completions", {
  reads: (format) => format.startsWith("openai") || format === "google-error",
  contentType: "text/event-stream",
  framed: (lines, lineEnd) => serverSent([...lines, "[DONE]"], lineEnd),
  provider: providerAt,
});

testRecorded("Anthropic Messages", {
  reads: (format) => format.startsWith("anthropic"),
  contentType: "text/event-stream",
  framed: (lines, lineEnd) => serverSent(lines, lineEnd, { named: true }),
  provider: claudeAt,
});

testRecorded("Gemini", {
  reads: (format) => format === "gemini-generate-content" || format === "google-error",
  contentType: "text/event-stream",
  framed: serverSent,
  provider: geminiAt,
});
