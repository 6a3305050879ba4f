// Gemini for the tests of this directory: a provider at an address, a body, and the parts of streamed objects.
import type { ChatRequest } from "../../domain/chat-request.ts";
import { providerOver } from "../http/http.fixtures.ts";
import type { ProviderAddress } from "../http/http-provider.ts";
import { callDraft, chatRequest } from "../openai/openai.fixtures.ts";
import type { CallDraft, OutgoingBody, Part, Provider, ProviderUsage } from "../provider.ts";
import { GeminiReader } from "./answer-reader.ts";
import { geminiCodec, type GoogleAccount } from "./codec.ts";
import { geminiBody } from "./request-body.ts";
import { printedText } from "../printed-text.fixtures.ts";

export const geminiAt = (
  baseUrl: string,
  { account, ...change }: Partial<ProviderAddress> & { account?: Partial<GoogleAccount> } = {},
): Provider =>
  providerOver(
    geminiCodec({ provider: "acme", path: "", credential: { apiKey: "provider-key" }, ...account }),
    baseUrl,
    change,
  );

export const GEMINI_CEILING = 64;

/** Returns the body of a call to a model. */
export function geminiOutgoing(
  request: Partial<ChatRequest> = {},
  { model = "gemini-3.8-flash", ...draft }: Partial<CallDraft> & { model?: string } = {},
): OutgoingBody {
  const whole = callDraft({ request: chatRequest(request), ...draft });
  return geminiBody({ ...whole, release: { ...whole.release, upstreamModel: model } }, "acme");
}

export const geminiSent = (...given: Parameters<typeof geminiOutgoing>): Record<string, unknown> =>
  JSON.parse(printedText(geminiOutgoing(...given), GEMINI_CEILING)) as Record<string, unknown>;

export const ISSUER = "issuer-1";

/** Returns the parts of a stream's objects, in order, and of its end. */
export function geminiParts(
  objects: readonly unknown[],
  choices = 1,
  topLogprobs: number | null = null,
): Part[] {
  const reader = new GeminiReader({ choices, topLogprobs, issuer: () => ISSUER });
  const parts: Part[] = [];
  for (const object of objects) reader.event(JSON.stringify(object), parts);
  reader.close(parts);
  return parts;
}

/** Returns an object with one candidate. */
export const candidate = (parts: unknown[], finishReason?: string): unknown => ({
  candidates: [{ content: { role: "model", parts }, ...(finishReason !== undefined && { finishReason }) }],
});

export const lastUsage = (parts: readonly Part[]): ProviderUsage | null =>
  parts.flatMap((part) => (part.type === "usage" ? [part.usage] : [])).at(-1) ?? null;
