// Whether a valid request suits the release that shall serve it (wire.md §1.1, §1.4): what is open differs from model
// to model, so these refusals come after the route is chosen and say what this one offers.
import { type ChatRequest, isInlineImage, type ReasoningStatement } from "../domain/chat-request.ts";
import type { OptionalField } from "../domain/optional-fields.ts";
import { echo, list, type Place, refuse, requireRange } from "../domain/read-value.ts";
import { Refusal } from "../domain/refusals.ts";
import type { Release } from "../domain/release.ts";

/** What is sent explicitly instead of being left to a provider's own default. */
export interface Fitted {
  /** The published mode to send; null when the release has no reasoning modes. */
  reasoningEffort: string | null;
  /** The caller's temperature, else the release's default; null = send none. */
  temperature: number | null;
}

type Offer = Pick<Release, "model" | "reasoning" | "capabilities" | "remoteImages" | "defaults">;

/** What the provider behind a release takes. */
export interface Upstream {
  /** Optional fields that it knows; what changes the answer is refused where it does not. */
  fields: readonly OptionalField[];
  /** Upper end of the temperature: 1 on Anthropic and Bedrock. */
  temperatureMax?: number;
}

/**
 * Checks the request against the release and its provider.
 * Throws `unsupported_value`, `unsupported_parameter`, `decimal_above_max_value` or `raw_token_ids_not_allowed`.
 */
export function fitToRelease(
  request: ChatRequest,
  release: Offer,
  { fields, temperatureMax = 2 }: Upstream,
): Fitted {
  requireCapabilities(request, { ...release, capabilities: known(release.capabilities, fields) });
  if (request.images > 0) requireImages(request, release);
  if (request.temperature !== null)
    requireRange(request.temperature, { min: 0, max: temperatureMax }, "decimal", "temperature");
  return {
    reasoningEffort: chooseEffort(request.reasoning, release),
    temperature: request.temperature ?? release.defaults.temperature ?? null,
  };
}

/** A release may promise more than its provider can be told. */
function known(capabilities: Release["capabilities"], fields: Upstream["fields"]): Release["capabilities"] {
  return {
    ...capabilities,
    json_schema: capabilities.json_schema && fields.includes("response_format"),
    logprobs: capabilities.logprobs && fields.includes("logprobs"),
    logit_bias: capabilities.logit_bias && fields.includes("logit_bias"),
    max_n: fields.includes("n") ? capabilities.max_n : 1,
  };
}

function requireCapabilities(request: ChatRequest, { model, capabilities }: Offer): void {
  const by = `by model ${echo(model)}`;
  if (request.tools.length > 0 && !capabilities.tools)
    throw refuse("unsupported_value", null, "tools", `are not offered ${by}. Remove the field.`);
  if (request.responseFormat !== null && !capabilities.json_schema)
    throw refuse("unsupported_value", null, "response_format", `can only be {"type": "text"} ${by}.`);
  if (request.n > capabilities.max_n)
    throw refuse("unsupported_value", null, "n", `can be at most ${capabilities.max_n} ${by}.`);
  if (request.logprobs && !capabilities.logprobs)
    throw refuse("unsupported_parameter", null, "logprobs", `is not offered ${by}. Remove the field.`);
  if (request.logitBias !== null && !capabilities.logit_bias)
    throw refuse(
      "raw_token_ids_not_allowed",
      null,
      "logit_bias",
      `works on token ids, which are not accepted ${by}.`,
    );
}

function requireImages(request: ChatRequest, release: Offer): void {
  request.messages.forEach((message, index) => {
    if (!Array.isArray(message.content)) return;
    const at: Place = {
      parent: { parent: { parent: null, step: "messages" }, step: index },
      step: "content",
    };
    message.content.forEach((part, partIndex) => {
      if (part.type === "image_url")
        requireImage(part.image_url.url, release, { parent: at, step: partIndex });
    });
  });
}

function requireImage(url: string, release: Offer, at: NonNullable<Place>): void {
  if (!release.capabilities.images)
    throw refuse(
      "unsupported_value",
      at.parent,
      at.step,
      `is an image, and model ${echo(release.model)} reads text only.`,
    );
  if (release.remoteImages || isInlineImage(url)) return;
  const text = "must be inline `data:image/…;base64,…`: this model takes no image addresses.";
  throw refuse("unsupported_value", { parent: at, step: "image_url" }, "url", text);
}

function chooseEffort(said: ReasoningStatement | null, { model, reasoning }: Offer): string | null {
  if (reasoning === null) {
    if (said === null) return null;
    throw unsupportedThinking(
      said.param,
      `is not open: model ${echo(model)} publishes no reasoning modes. Remove it.`,
    );
  }
  const modes = `model ${echo(model)} publishes the modes ${list(reasoning.modes)}`;
  switch (said?.kind) {
    case undefined:
      return reasoning.default;
    case "effort":
      if (reasoning.modes.includes(said.effort)) return said.effort;
      throw unsupportedThinking(said.param, `${echo(said.effort)} is not open: ${modes}.`);
    case "off":
      if (reasoning.modes.includes("none")) return "none";
      throw unsupportedThinking(said.param, `cannot switch thinking off: ${modes}.`);
    case "on":
      if (reasoning.default !== "none") return reasoning.default;
      throw unsupportedThinking(
        said.param,
        `names no mode: ${modes}, by default "none". Use \`reasoning_effort\`.`,
      );
  }
}

const unsupportedThinking = (param: string, text: string): Refusal =>
  new Refusal("unsupported_value", `\`${param}\` ${text}`, { param });
