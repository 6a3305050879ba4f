// The playground: a session instead of a key's secret, everything else is `/v1`. The chosen key pays, with its scope,
// limit and rate; the answer is the very answer of `/v1/chat/completions`, a stream included.
import type { Credential } from "../../contract/credential.ts";
import type { Desk } from "../../contract/desk.ts";
import { preview, type PreviewPorts } from "../../gateway/preview.ts";
import type { ChatHandler } from "../chat.ts";
import { type Call, callerOf, type Handlers, notFound } from "./call.ts";

export interface PlaygroundPorts {
  desk: Pick<Desk, "credentialOf">;
  chat: ChatHandler;
  preview: PreviewPorts;
}

type Routes = "POST /orgs/{org}/playground" | "POST /orgs/{org}/playground/quote";

export const playgroundHandlers = (on: PlaygroundPorts): Handlers<Routes> => ({
  "POST /orgs/{org}/playground": async (call) => {
    callerOf(call);
    const { authorization, body } = await innerOf(on, call);
    const { request, requestId, receivedAtMs, setIdleTimeout } = call;
    return await on.chat({ request, requestId, receivedAtMs, setIdleTimeout }, { authorization, body });
  },
  "POST /orgs/{org}/playground/quote": async (call) => {
    const { authorization, body } = await innerOf(on, call);
    const quoted = await preview(on.preview, {
      requestId: call.requestId,
      receivedAtMs: call.receivedAtMs,
      authorization,
      idempotencyKey: null,
      lastEventId: null,
      signal: call.request.signal,
      readBody: async () => body,
    });
    return quoted as Record<string, unknown>;
  },
});

async function innerOf(
  { desk }: PlaygroundPorts,
  { params, body }: Pick<Call<"POST /orgs/{org}/playground">, "params" | "body">,
): Promise<{ authorization: Credential; body: Uint8Array }> {
  const authorization = await desk.credentialOf(params.org, body.key);
  if (authorization === null) throw notFound("key");
  return { authorization, body: new TextEncoder().encode(JSON.stringify(body.request)) };
}
