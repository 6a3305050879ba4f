// The entry of this gateway in opencode's configuration (https://opencode.ai/docs/providers), and how it joins what stands
// there. The key is never written: the entry names the environment variable that holds it.
import { parseJson } from "../src/domain/parse-json.ts";

/** What `GET /v1/models` says of a model, as far as it is asked here. */
export interface ListedModel {
  id: string;
  context_length: number;
  max_output_tokens: number;
  capabilities: { tools: boolean; images: boolean; files?: boolean };
  reasoning: { modes: readonly string[] } | null;
}

type Members = Record<string, unknown>;

export const PROVIDER = "tollgate";
const SCHEMA = "https://opencode.ai/config.json";

export interface Wanted {
  /** Ends with `/v1`. */
  baseUrl: string;
  /** Of the environment variable. */
  keyName: string;
  models: readonly ListedModel[];
}

/** What somebody pastes where it cannot be merged. */
export const entryAlone = (wanted: Wanted): string =>
  print({ provider: { [PROVIDER]: entryOver({}, wanted) } });

/**
 * The file with the entry in it; everything else stays. Null for what is not plain JSON: comments, commas too many, a key
 * twice, or members of a kind that opencode does not know. Writing those anew would lose something.
 */
export function merged(text: string, wanted: Wanted): string | null {
  if (text.trim() === "") return print({ $schema: SCHEMA, provider: { [PROVIDER]: entryOver({}, wanted) } });
  const config = membersOf(read(text));
  if (config === null) return null;
  const providers = membersOf(config["provider"] ?? {});
  const entry = membersOf(providers?.[PROVIDER] ?? {});
  if (providers === null || entry === null) return null;
  const provider = { ...providers, [PROVIDER]: entryOver(entry, wanted) };
  return print({ ...config, provider }, indentOf(text));
}

/** Only the models that the gateway offers; what people set beside ours, on the entry and on its models, stays. */
function entryOver(entry: Members, { baseUrl, keyName, models }: Wanted): Members {
  const options = membersOf(entry["options"] ?? {}) ?? {};
  const known = membersOf(entry["models"] ?? {}) ?? {};
  return {
    name: "Tollgate",
    ...entry,
    npm: "@ai-sdk/openai-compatible",
    options: { ...options, baseURL: baseUrl, apiKey: `{env:${keyName}}` },
    models: Object.fromEntries(
      models
        .filter(givesWords)
        .map((model) => [model.id, { ...membersOf(known[model.id] ?? {}), ...modelOf(model) }]),
    ),
  };
}

/** A model of vectors is no model to talk to. */
const givesWords = ({ max_output_tokens: most }: ListedModel): boolean => most > 0;

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

function read(text: string): unknown {
  try {
    return parseJson(new TextEncoder().encode(text));
  } catch {
    return null; // whoever asks says what to do about it
  }
}

const membersOf = (value: unknown): Members | null =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Members) : null;

const indentOf = (text: string): string => /^\{\r?\n([ \t]+)"/.exec(text.trimStart())?.[1] ?? "  ";
const print = (value: unknown, indent = "  "): string => `${JSON.stringify(value, null, indent)}\n`;
