// The recordings of Bedrock's Converse, framed as the vendor frames them.
import { bedrockAt } from "../../src/providers/bedrock/bedrock.fixtures.ts";
import { eventFrame } from "../../src/providers/simulator/bedrock/frame.ts";
import { testRecorded } from "./recorded.ts";

testRecorded("Converse", {
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
});
