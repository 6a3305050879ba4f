// A first request in five ways, with the base URL and, while it is on screen, the key filled in.
import { CodeTabs } from "./code-tabs.tsx";

interface SnippetTerms {
  baseUrl: string;
  /** The whole key, only inside the secret dialog; otherwise a place to fill in. */
  secret?: string;
  model: string;
}

export const Snippets = ({ baseUrl, secret = "gw_sk_…", model }: SnippetTerms) => (
  <CodeTabs code={snippets({ baseUrl, secret, model })} />
);

function snippets({ baseUrl, secret, model }: Required<SnippetTerms>): Record<string, string> {
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
