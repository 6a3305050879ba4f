// The surfaces that clients of a run use: how each is requested, how its streams end, and where its answers report
// usage. What is judged is the same for all.
import type { PlannedRequest, SurfaceName } from "./plan.ts";

type Json = Record<string, unknown>;

interface Surface {
  path: string;
  /** The body of a request with this text. */
  body(request: PlannedRequest, text: string): Json;
  /** Fields that make it a different request. */
  other: Json;
  /** The last event of a stream that ended well. */
  ended: RegExp;
  /** The line of an event that says that the stream broke. */
  broke: RegExp;
  /** Matches some of the answer's content. */
  content: RegExp;
  /** Prompt and completion tokens in its own `usage`. */
  used(usage: Json): [prompt: number, completion: number];
}

const streamed = ({ stream, includeUsage }: PlannedRequest): Json => ({
  ...(stream && { stream: true }),
  ...(stream && includeUsage && { stream_options: { include_usage: true } }),
});
const most = (name: string, { maxTokens }: Pick<PlannedRequest, "maxTokens">): Json =>
  maxTokens === null ? {} : { [name]: maxTokens };
/** The minimum that the vendor accepts. */
const RESPONSE_TOKENS_MIN = 16;
const sum = (...counts: unknown[]): number => counts.reduce<number>((all, one) => all + Number(one ?? 0), 0);

const OLDER = {
  other: { top_p: 0.5 },
  ended: /^data: \[DONE\]$/m,
  broke: /^data: \{"error":/m,
  used: ({ prompt_tokens: prompt, completion_tokens: completion }: Json): [number, number] => [
    sum(prompt),
    sum(completion),
  ],
};

export const SURFACE: Readonly<Record<SurfaceName, Surface>> = {
  chat: {
    ...OLDER,
    path: "/v1/chat/completions",
    body: (request, text) => ({
      model: request.model,
      messages: [{ role: "user", content: text }],
      ...most("max_tokens", request),
      ...streamed(request),
    }),
    content: /"content":"[^"]/,
  },
  completions: {
    ...OLDER,
    path: "/v1/completions",
    body: (request, text) => ({
      model: request.model,
      prompt: text,
      ...most("max_tokens", request),
      ...streamed(request),
    }),
    content: /"text":"[^"]/,
  },
  messages: {
    path: "/v1/messages",
    body: (request, text) => ({
      model: request.model,
      max_tokens: request.maxTokens ?? 128,
      messages: [{ role: "user", content: text }],
      ...(request.stream && { stream: true }),
    }),
    other: { top_p: 0.5 },
    ended: /^event: message_stop$/m,
    broke: /^event: error$/m,
    content: /"text":"[^"]/,
    used: (usage) => [
      sum(usage["input_tokens"], usage["cache_read_input_tokens"], usage["cache_creation_input_tokens"]),
      sum(usage["output_tokens"]),
    ],
  },
  responses: {
    path: "/v1/responses",
    body: (request, text) => ({
      model: request.model,
      input: text,
      ...most("max_output_tokens", {
        maxTokens: request.maxTokens && Math.max(request.maxTokens, RESPONSE_TOKENS_MIN),
      }),
      ...(request.stream && { stream: true }),
    }),
    other: { top_p: 0.5 },
    ended: /^event: response\.(?:completed|incomplete)$/m,
    broke: /^event: response\.failed$/m,
    content: /"(?:text|delta)":"[^"]/,
    used: ({ input_tokens: prompt, output_tokens: completion }) => [sum(prompt), sum(completion)],
  },
  embeddings: {
    ...OLDER,
    path: "/v1/embeddings",
    body: ({ model }, text) => ({ model, input: text }),
    other: { dimensions: 5 },
    content: /"embedding":\[/,
  },
};

type Spoken = Pick<PlannedRequest, "surface">;

/** True if a stream came to its end, good or bad: one that a broken connection cut may look similar. */
export function isEnded(text: string, { surface }: Spoken): boolean {
  const last = text.trimEnd().split("\n\n").at(-1) ?? "";
  return SURFACE[surface].ended.test(last) || SURFACE[surface].broke.test(last);
}

/** True if it ended as a whole answer does. */
export const endedWell = (text: string, { surface }: Spoken): boolean =>
  SURFACE[surface].ended.test(text.trimEnd().split("\n\n").at(-1) ?? "");

export const isBroken = (text: string, { surface }: Spoken): boolean => SURFACE[surface].broke.test(text);

/** Events of Responses that close what was open when a stream broke; they come with its end. */
const CLOSINGS = /(?:(?:id: \d+\n)?event: response\.[a-z_.]+\.done\ndata: .*\n\n)+$/;

/** What came before the event that reports the failure; everything if there is no such event. */
export function sentOf(text: string, { surface }: Spoken): string {
  const broke = SURFACE[surface].broke.exec(text)?.index;
  if (broke === undefined) return text;
  const before = text.lastIndexOf("\n\n", broke);
  return (before === -1 ? "" : text.slice(0, before + 2)).replace(CLOSINGS, "");
}

/** `usage` of a whole answer, as its surface prints it; null if it has none. */
export function usedIn(body: string, { surface, stream }: Pick<PlannedRequest, "surface" | "stream">) {
  const texts = stream ? [...body.matchAll(/^data: (\{.*)$/gm)].map(([, data = ""]) => data) : [body];
  let used: Json | null = null;
  for (const text of texts) {
    const said = JSON.parse(text) as { usage?: Json | null; response?: { usage?: Json | null } };
    used = said.usage ?? said.response?.usage ?? used;
  }
  return used === null ? null : SURFACE[surface].used(used);
}
