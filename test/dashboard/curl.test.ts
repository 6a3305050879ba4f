// "Copy as curl": one shell word for the body, whatever a caller wrote as a model's name.
import { expect, test } from "bun:test";
import { printCurl } from "../../dashboard/pages/activity/curl.ts";

const sent = { baseUrl: "http://gw/v1", surface: null, stream: false, outputTokens: null };

test("a model's name cannot end the quotes", () => {
  const command = printCurl({ ...sent, model: "m'; rm -rf ~ #" });
  const shell = Bun.spawnSync(["sh", "-c", command.replace(/^curl/, "printf '%s\\n'")]);
  const lines = shell.stdout.toString().trim().split("\n");
  expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ model: "m'; rm -rf ~ #" });
});

test.each([
  ["responses", "/responses", { max_output_tokens: 90 }],
  ["messages", "/messages", { max_tokens: 90 }],
  ["embeddings", "/embeddings", { input: ["…"] }],
  ["completions", "/completions", { prompt: "…" }],
  [null, "/chat/completions", { max_tokens: 90 }],
])("on %s it goes to %s", (surface, path, body) => {
  const command = printCurl({ ...sent, surface, model: "m", stream: true, outputTokens: 90 });
  expect(command).toStartWith(`curl http://gw/v1${path} `);
  expect(JSON.parse(/-d '(.*)'$/.exec(command)?.[1] ?? "")).toMatchObject({
    model: "m",
    stream: true,
    ...body,
  });
});
