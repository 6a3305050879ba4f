// Bodies and a release for this folder's tests, and the text of refusals.
import { type Capabilities, NO_CAPABILITIES } from "../../../domain/capabilities.ts";
import { OPTIONAL_FIELDS } from "../../../domain/request-fields.ts";
import { fitToRelease } from "../../../releases/fit.ts";
import { parseChatRequest } from "./parse-chat-request.ts";
import type { JsonObject } from "../../../domain/read-value.ts";
import type { ChatRequest } from "../../../domain/chat-request.ts";
import { Refusal } from "../../../domain/refusals.ts";

export const user = (content: unknown = "Hello"): JsonObject => ({ role: "user", content });

/** A valid body with additional or other fields; `undefined` removes one. */
export const bodyWith = (fields: JsonObject = {}): JsonObject => {
  const body: JsonObject = { model: "base-preview-v1", messages: [user()], ...fields };
  for (const name of Object.keys(body)) if (body[name] === undefined) delete body[name];
  return body;
};

export const bodyOf = (...messages: unknown[]): JsonObject => bodyWith({ messages });

export const tool = (name = "weather"): JsonObject => ({
  type: "function",
  function: { name, description: "Tells the weather", parameters: { type: "object", properties: {} } },
});

export const call = (id = "call_1"): JsonObject => ({
  id,
  type: "function",
  function: { name: "weather", arguments: "{}" },
});

/** The refusal that the call throws; fails if it does anything else. */
export function refusalOf(run: () => unknown): Refusal {
  try {
    run();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error("accepted, but should have been refused");
}

/** The neutral request of an accepted body. */
export const parsed = (body: unknown): ChatRequest => parseChatRequest(body).request;

/** `code param` of the refusal of a body, `accepted` if there is none. */
export function verdict(body: unknown): string {
  return verdictOf(() => parseChatRequest(body));
}

/** As `verdict`, for a body that is valid in itself and meets a release. */
export function verdictAt(body: unknown, release: Offer, temperatureMax?: number): string {
  const upstream = {
    fields: OPTIONAL_FIELDS,
    files: true,
    ...(temperatureMax !== undefined && { temperatureMax }),
  };
  return verdictOf(() => fitToRelease(parsed(body), release, upstream));
}

function verdictOf(run: () => unknown): string {
  try {
    run();
    return "accepted";
  } catch (error) {
    if (error instanceof Refusal) return `${error.code} ${error.param}`;
    throw error;
  }
}

type Offer = Parameters<typeof fitToRelease>[1];

/** A release that offers only text, plus whatever the test adds. */
export const offer = (
  capabilities: Partial<Capabilities> = {},
  rest: Partial<Omit<Offer, "capabilities">> = {},
): Offer => ({
  model: "base-preview-v1",
  reasoning: null,
  remoteImages: false,
  filePagesMax: null,
  defaults: {},
  ...rest,
  capabilities: { ...NO_CAPABILITIES, ...capabilities },
});
