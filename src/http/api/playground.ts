// The playground's two calls are those of `/v1`: the chosen key pays, with its scope, limit and rate; the answer is the very
// answer of `/v1/chat/completions`, a stream included.
import type { Playground } from "../../api/rooms.ts";
import { chatCompletions } from "../../gateway/formats/chat-completions/chat-completions.ts";
import { preview, type PreviewPorts } from "../../gateway/preview.ts";
import type { SurfaceHandler } from "../surface.ts";

export const playgroundOn = (on: { chat: SurfaceHandler; preview: PreviewPorts }): Playground => ({
  complete: ({ request, requestId, receivedAtMs, setIdleTimeout }, paying) =>
    on.chat({ request, requestId, receivedAtMs, setIdleTimeout }, paying),
  quote: async ({ request, requestId, receivedAtMs }, { authorization, body }) =>
    (await preview(on.preview, {
      format: chatCompletions,
      requestId,
      receivedAtMs,
      trace: null,
      authorization,
      idempotencyKey: null,
      header: (name) => request.headers.get(name),
      lastEventId: null,
      signal: request.signal,
      checkBody: () => {},
      readBody: async () => body,
    })) as Record<string, unknown>,
});
