// A first request in five ways, with the base URL and, while it is on screen, the key filled in.
import { Code, Group, Stack, Tabs } from "@mantine/core";
import { CopyButton } from "./copy.tsx";

interface SnippetTerms {
  baseUrl: string;
  /** The whole key, only inside the secret dialog; otherwise a place to fill in. */
  secret?: string;
  model: string;
}

const WAYS = ["curl", "Python", "Node", "AI SDK", ".env"] as const;
type Way = (typeof WAYS)[number];

export function Snippets({ baseUrl, secret = "gw_sk_…", model }: SnippetTerms) {
  const text = snippets({ baseUrl, secret, model });
  return (
    <Tabs defaultValue="curl" keepMounted={false}>
      <Tabs.List>
        {WAYS.map((way) => (
          <Tabs.Tab key={way} value={way}>
            {way}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {WAYS.map((way) => (
        <Tabs.Panel key={way} value={way} pt="xs">
          <Stack gap="xs">
            <Code block className="pre" tabIndex={0}>
              {text[way]}
            </Code>
            <Group justify="flex-end">
              <CopyButton text={text[way]} />
            </Group>
          </Stack>
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

export function snippets({ baseUrl, secret, model }: Required<SnippetTerms>): Record<Way, string> {
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
