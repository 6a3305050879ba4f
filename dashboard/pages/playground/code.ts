// The playground's request as code, for the chosen surface; the key comes from the environment.
import type { SpokenSurface } from "../../../src/domain/surfaces.ts";
import type { ChatBody } from "../../api/chat.ts";
import { WORDS } from "../../api/surface-words.ts";

interface Place {
  baseUrl: string;
  surface: SpokenSurface;
}

/** How the vendors' SDKs call a surface, and read its answer. */
interface Sdk {
  path: string;
  call: string;
  /** Whose SDK; Anthropic's adds `/v1` to its base URL by itself. */
  of: "openai" | "anthropic";
  python: { whole: string; streamed: string };
  typescript: { whole: string; streamed: string };
}

const SDKS: Readonly<Record<SpokenSurface, Sdk>> = {
  "chat.completions": {
    path: "/chat/completions",
    call: "chat.completions.create",
    of: "openai",
    python: {
      whole: "print(answer.choices[0].message.content)",
      streamed: `for chunk in answer:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="")`,
    },
    typescript: {
      whole: "console.log(answer.choices[0]?.message.content);",
      streamed:
        'for await (const chunk of answer) process.stdout.write(chunk.choices[0]?.delta.content ?? "");',
    },
  },
  responses: {
    path: "/responses",
    call: "responses.create",
    of: "openai",
    python: {
      whole: "print(answer.output_text)",
      streamed: `for event in answer:
    if event.type == "response.output_text.delta":
        print(event.delta, end="")`,
    },
    typescript: {
      whole: "console.log(answer.output_text);",
      streamed:
        'for await (const event of answer) if (event.type === "response.output_text.delta") process.stdout.write(event.delta);',
    },
  },
  messages: {
    path: "/messages",
    call: "messages.create",
    of: "anthropic",
    python: {
      whole: `print("".join(block.text for block in answer.content if block.type == "text"))`,
      streamed: `for event in answer:
    if event.type == "content_block_delta" and event.delta.type == "text_delta":
        print(event.delta.text, end="")`,
    },
    typescript: {
      whole: `console.log(answer.content.map((block) => (block.type === "text" ? block.text : "")).join(""));`,
      streamed: `for await (const event of answer)
  if (event.type === "content_block_delta" && event.delta.type === "text_delta") process.stdout.write(event.delta.text);`,
    },
  },
};

const CLIENTS = {
  openai: { name: "OpenAI", python: "openai", typescript: "openai" },
  anthropic: { name: "Anthropic", python: "anthropic", typescript: "@anthropic-ai/sdk" },
} as const;

export function printCode({ baseUrl, surface }: Place, asked: ChatBody): Record<string, string> {
  const sdk = SDKS[surface];
  // Omitted members of a body are `undefined` here.
  const request = JSON.parse(JSON.stringify(WORDS[surface].body(asked))) as Record<string, unknown>;
  const said = asked.stream ? ("streamed" as const) : ("whole" as const);
  const at = sdk.of === "anthropic" ? baseUrl.replace(/\/v1$/, "") : baseUrl;
  return {
    curl: curl(`${baseUrl}${sdk.path}`, request),
    Python: python({ sdk, at, read: sdk.python[said] }, request),
    TypeScript: typescript({ sdk, at, read: sdk.typescript[said] }, request),
  };
}

const curl = (url: string, request: object): string =>
  `curl ${url} \\
  -H "Authorization: Bearer $TOLLGATE_KEY" \\
  -H "Content-Type: application/json" \\
  -d '${JSON.stringify(request, null, 2).replaceAll("'", "'\\''")}'`;

interface Program {
  sdk: Sdk;
  /** Its base URL. */
  at: string;
  read: string;
}

function python({ sdk, at, read }: Program, request: object): string {
  const { name, python: from } = CLIENTS[sdk.of];
  const fields = Object.entries(request).map(([field, value]) => `    ${field}=${pythonOf(value, 1)},`);
  return `import os

from ${from} import ${name}

client = ${name}(base_url="${at}", api_key=os.environ["TOLLGATE_KEY"])
answer = client.${sdk.call}(
${fields.join("\n")}
)
${read}`;
}

/** JSON text and Python text differ in three words; strings are the same. */
function pythonOf(value: unknown, depth: number): string {
  const inner = "    ".repeat(depth + 1);
  const outer = "    ".repeat(depth);
  if (Array.isArray(value))
    return value.length === 0
      ? "[]"
      : `[\n${value.map((one) => `${inner}${pythonOf(one, depth + 1)},\n`).join("")}${outer}]`;
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).map(
      ([name, one]) => `${inner}${JSON.stringify(name)}: ${pythonOf(one, depth + 1)},\n`,
    );
    return members.length === 0 ? "{}" : `{\n${members.join("")}${outer}}`;
  }
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  return JSON.stringify(value);
}

const typescript = ({ sdk, at, read }: Program, request: object): string => {
  const { name, typescript: from } = CLIENTS[sdk.of];
  return `import ${name} from "${from}";

const client = new ${name}({ baseURL: "${at}", apiKey: process.env.TOLLGATE_KEY });
const answer = await client.${sdk.call}(${JSON.stringify(request, null, 2)});
${read}`;
};
