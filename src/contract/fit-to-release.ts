// Whether a valid request suits the release that shall serve it (wire.md §1.1, §1.4): what is open differs from model
// to model, so these refusals come after the route is chosen and say what this one offers.
import type { ChatRequest, ReasoningStatement } from "./chat-request.ts";
import { isInlineImage } from "./parse-image-url.ts";
import { echo, list, type Place, refuse, requireRange } from "./read-value.ts";
import { Refusal } from "./refusals.ts";
import type { Release } from "./release.ts";

/** What is sent explicitly instead of being left to a provider's own default. */
export interface Fitted {
  /** The published mode to send; null when the release has no reasoning modes. */
  reasoningEffort: string | null;
  /** The caller's temperature, else the release's default; null = send none. */
  temperature: number | null;
}

type Offer = Pick<Release, "model" | "reasoning" | "capabilities" | "remoteImages" | "defaults">;

/**
 * Checks the request against the release. `temperatureMax` is the provider's upper end: 1 on Anthropic and Bedrock.
 * Throws `unsupported_value`, `unsupported_parameter`, `decimal_above_max_value` or `raw_token_ids_not_allowed`.
 */
export function fitToRelease(request: ChatRequest, release: Offer, temperatureMax = 2): Fitted {
  requireCapabilities(request, release);
  if (request.promptSize.images > 0) requireImages(request, release);
  if (request.temperature !== null)
    requireRange(request.temperature, { min: 0, max: temperatureMax }, "decimal", "temperature");
  return {
    reasoningEffort: chooseEffort(request.reasoning, release),
    temperature: request.temperature ?? release.defaults.temperature ?? null,
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
