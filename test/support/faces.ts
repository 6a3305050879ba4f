// Providers of other shapes, served by a test gateway's own simulator and configured as an operator would.
import type { Config } from "../../src/config/config.ts";
import { PROVIDER_KINDS } from "../../src/providers/kinds.ts";

const FACES = {
  claude: {
    kind: "anthropic",
    path: "/anthropic/v1",
    own: { envelope: "direct", api_key: "key", models: {} },
  },
  gemini: { kind: "google", path: "/google/v1beta", own: { envelope: "direct", api_key: "key" } },
  aws: { kind: "bedrock", path: "/bedrock", own: { region: "us-east-1", api_key: "key" } },
} as const;

/** A provider with the simulator's timeouts and health, at `path` of its server. */
export function addFace(
  { providers }: Config,
  name: string,
  { kind, path, own }: { kind: string; path: string; own: object },
): void {
  const [simulator] = providers;
  const found = PROVIDER_KINDS.find((one) => one.name === kind);
  if (simulator === undefined || found === undefined) throw new Error(`no ${kind} at the simulator`);
  const baseUrl = `${simulator.baseUrl?.replace(/\/v1$/, "")}${path}`;
  providers.push({ ...simulator, name, kind: found, baseUrl, own: { ...own } });
}

/** `claude`, `gemini` and `aws`, besides the simulator itself. */
export function addFaces(config: Config): void {
  for (const [name, face] of Object.entries(FACES)) addFace(config, name, face);
}
