// Prepared request bytes: a benchmark builds each request once and sends the same bytes again and again.
import { SCRIPTS } from "./scripts.ts";
import type { ScriptName } from "./scripts.ts";
import type { Origin } from "./connection.ts";

/** The address of a peer's chat completions, and the request headers it needs. */
export interface Target {
  origin: Origin;
  path: string;
  headers: Record<string, string>;
}

export type RequestSizeKb = 0.3 | 4 | 64 | 400;

const SENTENCE = "A gateway holds credits before the call and settles what was used after it. ";

/** A chat completion for one script, with a user message that makes the body about `sizeKb` long. */
export function chatBody(model: ScriptName, sizeKb: RequestSizeKb = 0.3): string {
  const streamed = SCRIPTS[model].kind !== "json";
  const body = (content: string): string =>
    JSON.stringify({
      model,
      messages: [
        { role: "system", content: "You are brief." },
        { role: "user", content },
      ],
      temperature: 0.7,
      ...(streamed ? { stream: true, stream_options: { include_usage: true } } : {}),
    });
  const room = Math.max(0, Math.round(sizeKb * 1024) - body("").length);
  return body(SENTENCE.repeat(Math.ceil(room / SENTENCE.length)).slice(0, room));
}

/** The bytes of one POST to `target`; `headers` overrides the target's. */
export function chatRequest(target: Target, body: string, headers = target.headers): Uint8Array {
  const payload = new TextEncoder().encode(body);
  const lines = [
    `POST ${target.path} HTTP/1.1`,
    `Host: ${target.origin.hostname}:${target.origin.port}`,
    "Content-Type: application/json",
    "Accept: application/json",
    "User-Agent: tollgate-bench",
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${payload.byteLength}`,
  ];
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`), payload]);
}
