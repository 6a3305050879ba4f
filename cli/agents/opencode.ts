// The entry for this gateway in opencode's configuration (https://opencode.ai/docs/providers), and how it merges with
// what is already there. The key is never written: the entry names the environment variable that holds it.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Agent, configFolder, type ListedModel, type Wanted } from "./agent.ts";
import { indentOf, type Members, membersOf, print, read } from "./plain-json.ts";

const PROVIDER = "tollgate";
const SCHEMA = "https://opencode.ai/config.json";
/** The packages that can talk to this gateway: chat completions by default, and the alternatives a user may choose. */
const PACKAGES: readonly unknown[] = ["@ai-sdk/openai-compatible", "@ai-sdk/openai", "@ai-sdk/anthropic"];

export const opencode: Agent = {
  name: "opencode",
  description: "add this gateway to opencode's configuration; shows the change and asks first",
  where: "OPENCODE_CONFIG; else opencode.json in ~/.config/opencode",
  file,
  oneModel: false,
  merged,
  alone: (wanted) => print({ provider: { [PROVIDER]: entryOver({}, wanted) } }),
  place: 'beside what is in "provider"',
  start: () => `opencode calls its models ${PROVIDER}/….`,
};

/** The global configuration file that opencode reads last. */
function file(env: NodeJS.ProcessEnv): string {
  const given = env["OPENCODE_CONFIG"] ?? "";
  if (given !== "") return given;
  const folder = join(configFolder(env), "opencode");
  const withComments = join(folder, "opencode.jsonc");
  return existsSync(withComments) ? withComments : join(folder, "opencode.json");
}

/**
 * The file with the entry added; everything else stays. Returns null for anything but plain JSON (comments, trailing
 * commas, duplicate keys) and for members of a type that opencode does not know: rewriting those would lose
 * something.
 */
function merged(text: string, wanted: Wanted): string | null {
  if (text.trim() === "") return print({ $schema: SCHEMA, provider: { [PROVIDER]: entryOver({}, wanted) } });
  const config = membersOf(read(text));
  if (config === null) return null;
  const providers = membersOf(config["provider"] ?? {});
  const entry = membersOf(providers?.[PROVIDER] ?? {});
  if (providers === null || entry === null) return null;
  const provider = { ...providers, [PROVIDER]: entryOver(entry, wanted) };
  return print({ ...config, provider }, indentOf(text));
}

/** Lists only the models that the gateway offers. Keeps what users set on the entry and on its models. */
function entryOver(entry: Members, { url, keyName, models }: Wanted): Members {
  const options = membersOf(entry["options"] ?? {}) ?? {};
  const known = membersOf(entry["models"] ?? {}) ?? {};
  return {
    name: "Tollgate",
    ...entry,
    npm: PACKAGES.find((name) => name === entry["npm"]) ?? PACKAGES[0],
    options: { ...options, baseURL: `${url}/v1`, apiKey: `{env:${keyName}}` },
    models: Object.fromEntries(
      models.map((model) => [model.id, { ...membersOf(known[model.id] ?? {}), ...modelOf(model) }]),
    ),
  };
}

const modelOf = ({ context_length, max_output_tokens, capabilities, reasoning }: ListedModel): Members => ({
  limit: { context: context_length, output: max_output_tokens },
  tool_call: capabilities.tools,
  reasoning: reasoning?.modes.some((mode) => mode !== "none") ?? false,
  ...((capabilities.images || capabilities.files === true) && {
    attachment: true,
    modalities: { input: inputsOf(capabilities), output: ["text"] },
  }),
});

const inputsOf = ({ images, files }: ListedModel["capabilities"]): string[] => [
  "text",
  ...(images ? ["image"] : []),
  ...(files === true ? ["pdf"] : []),
];
