// Vendors of the chat-completions shape, one row each: their configuration is a name, a kind and a key. Facts only,
// from what each publishes of its own endpoint (providers.md §1, §2).
import { apiKeyCredentials } from "../credentials/api-key.ts";
import { awsCredentials } from "../credentials/aws.ts";
import type { Credentials } from "../credentials/credentials.ts";
import { azureCredentials } from "../credentials/entra.ts";
import type { ProviderKind } from "../kind.ts";
import { dialectOf } from "./dialect-setting.ts";
import { type DialectName, DIALECTS } from "./dialects.ts";
import { chatKind, type ChatVendor } from "./vendor-kind.ts";

type Row = Pick<
  ChatVendor,
  "title" | "baseUrl" | "addressOf" | "addressExample" | "hosts" | "addressEnd" | "responses"
> & {
  dialect: DialectName;
  /** The path of a cheap GET that requires the key, too; null = there is none. */
  probePath: string | null;
  credentials: Credentials;
};

const KEY = apiKeyCredentials({ header: "authorization", needed: true });
/** For servers that operators run themselves. */
const KEY_IF_ANY = apiKeyCredentials({ header: "authorization", needed: false });

const models = { probePath: "/models", credentials: KEY } as const;

const ROWS: Record<string, Row> = {
  mistral: { title: "Mistral", baseUrl: "https://api.mistral.ai/v1", dialect: "mistral", ...models },
  deepseek: { title: "DeepSeek", baseUrl: "https://api.deepseek.com/v1", dialect: "deepseek", ...models },
  groq: { title: "Groq", baseUrl: "https://api.groq.com/openai/v1", dialect: "groq", ...models },
  xai: { title: "xAI", baseUrl: "https://api.x.ai/v1", dialect: "xai", ...models },
  moonshot: { title: "Moonshot", baseUrl: "https://api.moonshot.ai/v1", dialect: "moonshot", ...models },
  openrouter: {
    title: "OpenRouter",
    baseUrl: "https://openrouter.ai/api/v1",
    dialect: "openrouter",
    ...models,
    probePath: "/key", // its list of models is long, and requires no key
  },
  together: { title: "Together", baseUrl: "https://api.together.xyz/v1", dialect: "together", ...models },
  fireworks: {
    title: "Fireworks",
    baseUrl: "https://api.fireworks.ai/inference/v1",
    dialect: "fireworks",
    ...models,
  },
  cerebras: { title: "Cerebras", baseUrl: "https://api.cerebras.ai/v1", dialect: "cerebras", ...models },
  perplexity: {
    title: "Perplexity",
    baseUrl: "https://api.perplexity.ai",
    dialect: "perplexity",
    ...models,
    probePath: null,
  },
  vllm: {
    title: "vLLM",
    addressExample: "http://127.0.0.1:8000/v1",
    dialect: "vllm",
    ...models,
    credentials: KEY_IF_ANY,
  },
  ollama: {
    title: "Ollama",
    baseUrl: "http://127.0.0.1:11434/v1",
    dialect: "ollama",
    ...models,
    credentials: KEY_IF_ANY,
  },
  azure: {
    title: "Azure",
    addressExample: "https://my-resource.openai.azure.com/openai/v1",
    hosts: [".openai.azure.com", ".services.ai.azure.com", ".cognitiveservices.azure.com"],
    addressEnd: "/openai/v1",
    dialect: "azure",
    responses: true,
    ...models,
    credentials: azureCredentials,
  },
  "bedrock-openai": {
    title: "Amazon Bedrock",
    addressOf: (own) =>
      `https://bedrock-runtime.${(own as { region: string }).region}.amazonaws.com/openai/v1`,
    hosts: [".amazonaws.com"],
    addressEnd: "/openai/v1",
    addressExample: "https://bedrock-runtime.us-east-1.amazonaws.com/openai/v1",
    dialect: "bedrock",
    probePath: null,
    credentials: awsCredentials("bedrock"),
  },
  "gemini-openai": {
    title: "Google",
    baseUrl: "https://generativelanguage.googleapis.com/v1beta/openai",
    dialect: "gemini",
    ...models,
  },
};

/** One kind for each row. */
export const VENDORS: readonly ProviderKind[] = Object.entries(ROWS).map(
  ([name, { title, dialect, ...row }]) =>
    chatKind({
      ...row,
      name,
      title,
      description: `${title}, in the chat-completions format${row.baseUrl === undefined ? "" : ` at ${row.baseUrl}`}.`,
      dialect: dialectOf(DIALECTS[dialect]),
    }),
);
