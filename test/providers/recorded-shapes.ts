// The wire shapes whose recordings are read, each with its vendor's framing.
import { claudeAt } from "../../src/providers/anthropic/anthropic.fixtures.ts";
import { bedrockAt } from "../../src/providers/bedrock/bedrock.fixtures.ts";
import { geminiAt } from "../../src/providers/google/google.fixtures.ts";
import { providerAt } from "../../src/providers/openai/openai.fixtures.ts";
import { eventFrame } from "../../src/providers/simulator/bedrock/frame.ts";
import { type RecordedShape, serverSent } from "./recorded.ts";

export const RECORDED_SHAPES = {
  "chat completions": {
    reads: (format) => format.startsWith("openai") || format === "google-error",
    contentType: "text/event-stream",
    framed: (lines, lineEnd) => serverSent([...lines, "[DONE]"], lineEnd),
    provider: providerAt,
  },
  "Anthropic Messages": {
    reads: (format) => format.startsWith("anthropic"),
    contentType: "text/event-stream",
    framed: (lines, lineEnd) => serverSent(lines, lineEnd, { named: true }),
    provider: claudeAt,
  },
  Gemini: {
    reads: (format) => format === "gemini-generate-content" || format === "google-error",
    contentType: "text/event-stream",
    framed: serverSent,
    provider: geminiAt,
  },
  Converse: {
    reads: (format) => format === "bedrock-converse",
    contentType: "application/vnd.amazon.eventstream",
    binary: true,
    framed: (lines) =>
      Buffer.concat(
        lines.map((line) => {
          const [[type, payload] = ["", {}]] = Object.entries(JSON.parse(line) as Record<string, unknown>);
          return eventFrame(type, payload);
        }),
      ),
    provider: (baseUrl) => bedrockAt(baseUrl.replace(/\/v1$/, "")),
  },
} satisfies Record<string, RecordedShape>;
