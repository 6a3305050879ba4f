// The second person who approves what the installation's key requests: the first account of the gateway, made by the
// link in its banner, with a management key of its own.
import { readFileSync } from "node:fs";
import type { GatewayProcess } from "./gateway-process.ts";

const TOLD_WITHIN_MS = 30_000;

/** The secret of the management key. */
export async function secondPerson({ url, files }: GatewayProcess): Promise<string> {
  const account = { name: "Second", email: "second@example.com", password: "correct horse battery" };
  const token = await linkTold(files.log);
  const post = async (path: string, body: object, cookie = ""): Promise<Response> => {
    const headers = { origin: url, "content-type": "application/json", cookie };
    const answer = await fetch(`${url}/app/v1${path}`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer;
  };
  const arrived = await post("/welcome", { token, ...account });
  const cookie = arrived.headers
    .getSetCookie()
    .map((line) => line.split(";", 1)[0])
    .join("; ");
  const made = await post("/operator/management-keys", { name: "torture" }, cookie);
  return ((await made.json()) as { secret: string }).secret;
}

/** The gateway is ready a moment before it prints the sign-in link. */
async function linkTold(log: string): Promise<string> {
  for (const untilMs = performance.now() + TOLD_WITHIN_MS; performance.now() < untilMs; await Bun.sleep(20)) {
    const [, token] = /\/welcome#token=(\S+)/.exec(readFileSync(log, "utf8")) ?? [];
    if (token !== undefined) return token;
  }
  throw new Error("the gateway told no link for its first account");
}
