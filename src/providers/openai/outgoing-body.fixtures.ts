// Bodies for the tests of what is sent upstream and of what is priced.
import type { ChatRequest } from "../../domain/chat-request.ts";
import { FIELD_SAMPLES, type FieldSample } from "../../domain/request-fields.fixtures.ts";
import { type Dialect, DIALECTS } from "./dialects.ts";
import { outgoingBody } from "./outgoing-body.ts";
import { callDraft, chatRequest } from "./openai.fixtures.ts";
import type { CallDraft, OutgoingBody } from "../provider.ts";

export const CEILING = 64;

/** Returns the body of a call in OpenAI's own dialect, except for `dialect`. */
export const outgoing = (
  request: Partial<ChatRequest> = {},
  draft: Partial<CallDraft> = {},
  dialect: Partial<Dialect> = {},
): OutgoingBody =>
  outgoingBody(callDraft({ request: chatRequest(request), ...draft }), {
    family: "acme",
    dialect: { ...DIALECTS.openai, ...dialect },
  });

/** The samples as a request holds them. */
export const samplesHeld: Record<FieldSample["held"], Record<string, string>> = {
  forwarded: {},
  identifiers: {},
  applied: {},
};
for (const [name, { held, given }] of FIELD_SAMPLES) Object.assign(samplesHeld[held], { [name]: given });
