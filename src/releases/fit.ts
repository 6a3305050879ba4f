// Checks whether a valid request fits the release that will serve it (wire.md §1.1, §1.4). What is allowed
// differs between models, so these refusals come after the route is chosen and name what it offers.
import { CAPABILITIES } from "../domain/capabilities.ts";
import {
  type ChatRequest,
  type InlineFile,
  isInlineImage,
  type ReasoningStatement,
} from "../domain/chat-request.ts";
import { pdfBytes } from "../domain/inline-pdf.ts";
import type { NativeShape } from "../domain/native-body.ts";
import { type PartPlace, partPlaceOf } from "../domain/part-place.ts";
import {
  ASKED_BY,
  type AskingField,
  OPTIONAL_FIELDS,
  type OptionalField,
  type RequestField,
} from "../domain/request-fields.ts";
import { echo, invalid, list, type Place, refuse, requireRange } from "../domain/read-value.ts";
import { Refusal } from "../domain/refusals.ts";
import type { Release } from "../domain/release.ts";
import { pdfPages } from "../lib/pdf-pages.ts";

/** Values sent explicitly instead of relying on a provider's default. */
export interface Fitted {
  /** The published mode to send; null if the release has no reasoning modes. */
  reasoningEffort: string | null;
  /** The caller's temperature, otherwise the release's default; null sends none. */
  temperature: number | null;
}

type Offer = Pick<
  Release,
  "model" | "reasoning" | "capabilities" | "remoteImages" | "filePagesMax" | "defaults"
>;

/** What the provider behind a release accepts. */
export interface UpstreamAbilities {
  /** The optional fields that it supports; unsupported ones that change the answer are refused. */
  fields: readonly OptionalField[];
  /** The maximum temperature: 1 on Anthropic and Bedrock. */
  temperatureMax?: number;
  /** The formats in which it takes a caller's body unchanged. */
  speaks?: readonly NativeShape[];
  /** True if it accepts files. */
  files?: boolean;
}

/**
 * Checks the request against the release and its provider. Throws for untranslatable parts of a native body,
 * and `unsupported_value`, `unsupported_parameter`, `decimal_above_max_value` or `raw_token_ids_not_allowed`.
 */
export function fitToRelease(
  request: ChatRequest,
  release: Offer,
  { fields, temperatureMax = 2, files = false, speaks = [] }: UpstreamAbilities,
): Fitted {
  const { native } = request;
  const asWritten = native !== null && speaks.includes(native.shape);
  requireKind(request, release);
  if (!asWritten && native?.only) throw native.only;
  requireCapabilities(request, release, asWritten ? OPTIONAL_FIELDS : fields);
  if (request.images > 0 || request.files > 0) requireAttachments(request, release, files || asWritten);
  if (request.temperature !== null)
    requireRange(request.temperature, { min: 0, max: temperatureMax }, "decimal", "temperature");
  return {
    reasoningEffort: chooseEffort(request.reasoning, release),
    temperature: request.temperature ?? release.defaults.temperature ?? null,
  };
}

/** A release produces text or vectors, never both; one from before this distinction produces text. */
function requireKind({ native }: ChatRequest, { model, capabilities }: Offer): void {
  const wanted = native?.shape === "openai-embeddings";
  if (wanted === (capabilities.embeddings === true)) return;
  const text = wanted
    ? `${echo(model)} does not make embeddings. GET /v1/models lists in \`capabilities\` which models do.`
    : `${echo(model)} makes only embeddings. Send its inputs to /v1/embeddings.`;
  throw refuse("unsupported_value", null, "model", text);
}

/**
 * A release may promise more than its provider can express: what the provider does not support is not
 * offered.
 */
function requireCapabilities(
  request: ChatRequest,
  { model, capabilities }: Offer,
  fields: UpstreamAbilities["fields"],
): void {
  for (const { capability, field, least, notOffered } of ASKED_FOR) {
    const wanted = asked(request, field);
    if (wanted <= least) continue;
    const offered = Number(mayBeTold(field, fields) ? capabilities[capability] : least);
    if (wanted > offered)
      throw refuse(notOffered.code, null, field, notOffered.text(`with model ${echo(model)}`, offered));
  }
}

/** Capabilities requested by a field, and the amount that every release offers. */
const ASKED_FOR = CAPABILITIES.flatMap(([capability, { least, notOffered }]) => {
  const field = ASKED_BY.get(capability);
  return field === undefined ? [] : [{ capability, field, least: Number(least), notOffered }];
});

const mayBeTold = (field: RequestField, fields: readonly RequestField[]): boolean =>
  fields.includes(field) || !OPTIONAL.has(field);
const OPTIONAL: ReadonlySet<RequestField> = new Set(OPTIONAL_FIELDS);

/** The amount that the request wants of a field; 1 or 0 for capabilities that are either offered or not. */
function asked({ tools, responseFormat, n, applied }: ChatRequest, field: AskingField): number {
  if (field === "tools") return Number(tools.length > 0);
  if (field === "response_format") return Number(responseFormat !== null);
  if (field === "n") return n;
  return Number(applied[field] !== undefined);
}

function requireAttachments(request: ChatRequest, release: Offer, files: boolean): void {
  let read = 0;
  request.messages.forEach((message, index) => {
    if (!Array.isArray(message.content)) return;
    const at: Place = {
      parent: { parent: { parent: null, step: "messages" }, step: index },
      step: "content",
    };
    message.content.forEach((part, partIndex) => {
      if (part.type !== "image_url" && part.type !== "file") return;
      const place = partPlaceOf(part, { parent: at, step: partIndex });
      if (part.type === "image_url") requireImage(part.image_url.url, release, place);
      else requireFile(part.file, release, { place, taken: files, before: read++ });
    });
  });
}

function requireImage(url: string, release: Offer, { part, data }: PartPlace): void {
  if (!release.capabilities.images)
    throw refuse(
      "unsupported_value",
      part.parent,
      part.step,
      `is an image, but model ${echo(release.model)} reads only text.`,
    );
  if (release.remoteImages || isInlineImage(url)) return;
  const text = "must be inline `data:image/…;base64,…`: this model takes no image URLs.";
  throw refuse("unsupported_value", data.parent, data.step, text);
}

/** The limit per request. Agent conversations accumulate files, and each is scanned for its pages. */
const FILES_MAX = 20;

function requireFile(
  file: InlineFile,
  { model, capabilities, filePagesMax }: Offer,
  { place: { part, data }, taken, before }: { place: PartPlace; taken: boolean; before: number },
): void {
  const refused = (text: string): Refusal => refuse("unsupported_value", part.parent, part.step, text);
  if (!capabilities.files || !taken)
    throw refused(`is a file, but model ${echo(model)} does not read files.`);
  if (before >= FILES_MAX) throw refused(`is one file too many: a request may contain at most ${FILES_MAX}.`);
  const pages = pagesOf(file);
  if (pages === null)
    throw invalid(
      data.parent,
      data.step,
      "is a PDF whose pages cannot be counted. Save it again, without a password.",
    );
  if (pages > (filePagesMax ?? 0))
    throw refuse(
      "unsupported_value",
      data.parent,
      data.step,
      `has ${pages} pages, but model ${echo(model)} takes files of at most ${filePagesMax ?? 0} pages. Send part of it.`,
    );
}

/** Several releases are checked against the same file. */
const PAGES = new WeakMap<InlineFile, number | null>();

function pagesOf(file: InlineFile): number | null {
  const known = PAGES.get(file);
  if (known !== undefined) return known;
  const pages = pdfPages(Buffer.from(pdfBytes(file), "base64"));
  PAGES.set(file, pages);
  return pages;
}

function chooseEffort(said: ReasoningStatement | null, { model, reasoning }: Offer): string | null {
  if (reasoning === null) {
    if (said === null || said.hint === true) return null;
    throw unsupportedThinking(
      said.param,
      `is not supported: model ${echo(model)} publishes no reasoning modes. Remove it.`,
    );
  }
  const modes = `model ${echo(model)} publishes the modes ${list(reasoning.modes)}`;
  switch (said?.kind) {
    case undefined:
      return reasoning.default;
    case "effort":
      if (reasoning.modes.includes(said.effort)) return said.effort;
      throw unsupportedThinking(said.param, `${echo(said.effort)} is not supported: ${modes}.`);
    case "off":
      if (reasoning.modes.includes("none")) return "none";
      throw unsupportedThinking(said.param, `cannot switch thinking off: ${modes}.`);
    case "on":
      if (reasoning.default !== "none" || said.hint === true) return reasoning.default;
      throw unsupportedThinking(
        said.param,
        `does not name a mode: ${modes}, and its default is "none". Name one with \`reasoning_effort\`.`,
      );
  }
}

const unsupportedThinking = (param: string, text: string): Refusal =>
  new Refusal("unsupported_value", `\`${param}\` ${text}`, { param });
