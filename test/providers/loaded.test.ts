// Unconfigured code is not in memory: a wire shape is loaded with the first provider that uses it.
import { expect, test } from "bun:test";

const SHAPES = ["anthropic", "bedrock", "google", "openai"];

/** The folders of the wire shapes whose codecs a process has loaded after running this. */
function loadedBy(code: string): string[] {
  const report = `
    const files = Object.keys(require.cache);
    console.log(JSON.stringify(${JSON.stringify(SHAPES)}.filter((shape) =>
      files.some((file) => file.endsWith("/src/providers/" + shape + "/codec.ts")))));`;
  const { stdout, stderr } = Bun.spawnSync([process.execPath, "-e", `${code}\n${report}`], {
    cwd: `${import.meta.dir}/../..`,
  });
  if (stdout.length === 0) throw new Error(stderr.toString());
  return JSON.parse(stdout.toString()) as string[];
}

const open = (settings: string): string => `
  const { writeFileSync, mkdtempSync } = await import("node:fs");
  const cwd = mkdtempSync((await import("node:os")).tmpdir() + "/tollgate-loaded-");
  writeFileSync(cwd + "/tollgate.yaml", ${JSON.stringify(settings)});
  const { loadConfig } = await import("./src/config/config.ts");
  const { openProviders } = await import("./src/main/providers.ts");
  const { providers } = loadConfig({ env: {}, cwd, flags: { config: cwd + "/tollgate.yaml" } });
  // The demo's simulator stands beside it as long as nobody's release keys are trusted.
  const opened = await openProviders(providers.filter(({ name }) => name === "a"), null);
  if (opened.byName.size === 0) throw new Error("no provider");
  (await import("node:fs")).rmSync(cwd, { recursive: true });`;

test("every kind can be configured without its shape", () => {
  expect(
    loadedBy(`await import("./src/main/gateway.ts"); await import("./src/providers/kinds.ts");`),
  ).toEqual([]);
});

test.each([
  ["anthropic", "{ name: a, kind: anthropic, api_key: sk-ant-x }"],
  ["google", "{ name: a, kind: google, api_key: AIzaX }"],
  ["bedrock", "{ name: a, kind: bedrock, region: us-east-1, api_key: bedrock-key }"],
  ["openai", "{ name: a, kind: mistral, api_key: some-key }"],
])("configuring %s loads it, and nothing else", (shape, provider) => {
  expect(loadedBy(open(`providers:\n  - ${provider}\n`))).toEqual([shape]);
});
