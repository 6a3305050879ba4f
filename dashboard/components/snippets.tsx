// A first request in five languages, with the base URL and, while it is on screen, the key filled in.
import { CodeTabs } from "./code-tabs.tsx";

interface SnippetTerms {
  baseUrl: string;
  /** The whole key, only inside the secret dialog; otherwise a placeholder. */
  secret?: string;
  model: string;
  /** True for an embedding model. */
  vectors?: boolean;
}

export const Snippets = ({ baseUrl, secret = "gw_sk_…", model, vectors = false }: SnippetTerms) => (
  <CodeTabs code={(vectors ? vectorSnippets : snippets)({ baseUrl, secret, model })} />
);

type Filled = Required<Omit<SnippetTerms, "vectors">>;

function snippets({ baseUrl, secret, model }: Filled): Record<string, string> {
  return {
    curl: `curl ${baseUrl}/chat/completions \\
  -H "Authorization: Bearer ${secret}" \\
  -H "Content-Type: application/json" \\
  -d '{"model":"${model}","messages":[{"role":"user","content":"Say hello"}]}'`,
    Python: `from openai import OpenAI

client = OpenAI(base_url="${baseUrl}", api_key="${secret}")
completion = client.chat.completions.create(
    model="${model}", messages=[{"role": "user", "content": "Say hello"}]
)
print(completion.choices[0].message.content)`,
    Node: `import OpenAI from "openai";

const client = new OpenAI({ baseURL: "${baseUrl}", apiKey: "${secret}" });
const completion = await client.chat.completions.create({
  model: "${model}",
  messages: [{ role: "user", content: "Say hello" }],
});
console.log(completion.choices[0]?.message.content);`,
    "AI SDK": `import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText } from "ai";

const tollgate = createOpenAICompatible({
  name: "tollgate",
  baseURL: "${baseUrl}",
  apiKey: "${secret}",
  includeUsage: true,
});
const { text } = await generateText({ model: tollgate("${model}"), prompt: "Say hello" });
console.log(text);`,
    ".env": `OPENAI_BASE_URL=${baseUrl}\nOPENAI_API_KEY=${secret}`,
  };
}

function vectorSnippets({ baseUrl, secret, model }: Filled): Record<string, string> {
  return {
    curl: `curl ${baseUrl}/embeddings \\
  -H "Authorization: Bearer ${secret}" \\
  -H "Content-Type: application/json" \\
  -d '{"model":"${model}","input":["Say hello"]}'`,
    Python: `from openai import OpenAI

client = OpenAI(base_url="${baseUrl}", api_key="${secret}")
answer = client.embeddings.create(model="${model}", input=["Say hello"])
print(answer.data[0].embedding)`,
    Node: `import OpenAI from "openai";

const client = new OpenAI({ baseURL: "${baseUrl}", apiKey: "${secret}" });
const answer = await client.embeddings.create({ model: "${model}", input: ["Say hello"] });
console.log(answer.data[0]?.embedding);`,
  };
}
