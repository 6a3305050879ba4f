// The request of the playground as a program would send it; the key comes from the environment.
import type { ChatBody } from "../../api/completion.ts";

export const printCode = (baseUrl: string, request: ChatBody): Record<string, string> => ({
  curl: curl(baseUrl, request),
  Python: python(baseUrl, request),
  TypeScript: typescript(baseUrl, request),
});

const curl = (baseUrl: string, request: ChatBody): string =>
  `curl ${baseUrl}/chat/completions \\
  -H "Authorization: Bearer $TOLLGATE_KEY" \\
  -H "Content-Type: application/json" \\
  -d '${JSON.stringify(request, null, 2).replaceAll("'", "'\\''")}'`;

function python(baseUrl: string, request: ChatBody): string {
  const fields = Object.entries(request).map(([name, value]) => `    ${name}=${pythonOf(value, 1)},`);
  const read = request.stream
    ? `for chunk in answer:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="")`
    : "print(answer.choices[0].message.content)";
  return `import os

from openai import OpenAI

client = OpenAI(base_url="${baseUrl}", api_key=os.environ["TOLLGATE_KEY"])
answer = client.chat.completions.create(
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

function typescript(baseUrl: string, request: ChatBody): string {
  const read = request.stream
    ? 'for await (const chunk of answer) process.stdout.write(chunk.choices[0]?.delta.content ?? "");'
    : "console.log(answer.choices[0]?.message.content);";
  return `import OpenAI from "openai";

const client = new OpenAI({ baseURL: "${baseUrl}", apiKey: process.env.TOLLGATE_KEY });
const answer = await client.chat.completions.create(${JSON.stringify(request, null, 2)});
${read}`;
}
