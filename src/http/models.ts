// GET /v1/models and /v1/models/{id} (specification 4, wire.md §5): the models this key may use, closed ones with their state.
// Prices as published, together with what OpenRouter's clients look for: rates per token, modalities, limits. Clients that send
// `anthropic-version` get Anthropic's form.
import { modelNotFound } from "../releases/closed-refusal.ts";
import { allows } from "../domain/allowed-models.ts";
import { NO_CAPABILITIES } from "../domain/capabilities.ts";
import type { ShownIn } from "../domain/credential.ts";
import { parseUsd } from "../domain/money.ts";
import { REQUEST_FIELDS } from "../domain/request-fields.ts";
import { type Release, ROUTE_STATES, type RouteState } from "../domain/release.ts";
import { printTime } from "../domain/print.ts";
import { puttingOut } from "../gateway/prepared-request.ts";
import { VERSION_HEADER } from "../gateway/formats/messages/beta-names.ts";
import { messages } from "../gateway/formats/messages/messages.ts";
import type { Reader } from "../ledger/ledger.ts";
import {
  answersMessages,
  type OfferedModel,
  printAnthropicModel,
  printAnthropicPage,
} from "./anthropic-models.ts";
import type { Handler, HttpContext } from "./context.ts";
import { withKey } from "./inference-door.ts";
import { refusalFrom, replyJson, replyRefusal } from "./reply.ts";
import type { KeyRecord } from "../registry/api-keys.ts";
import { activeEntitlements } from "../registry/entitlements.ts";

/** One model with its routes in the order in which they are tried. */
interface ListedModel {
  model: string;
  createdAtMs: number;
  routes: readonly { release: Release; state: RouteState; reason: string | null }[];
}

export interface ModelsPorts {
  ledger: Reader;
  routeTable: { models(): readonly ListedModel[] };
}

export const models = (ports: ModelsPorts): Handler =>
  inEitherForm(ports, {
    openAi: (open) => ({ object: "list", data: open.map(wireModel) }),
    anthropic: (open, { query }) => printAnthropicPage(open.map(offered), query),
  });

export const model = (ports: ModelsPorts): Handler =>
  inEitherForm(ports, {
    openAi: (open, { rest }) => wireModel(named(rest, open)),
    anthropic: (open, { rest }) =>
      printAnthropicModel(
        offered(
          named(
            rest,
            open.filter((one) => answersMessages(offered(one))),
          ),
        ),
      ),
  });

type PrintModels = (open: readonly ListedModel[], asked: Pick<HttpContext, "query" | "rest">) => unknown;

/** Each form in its own words, refusals included; Anthropic's clients may send the key in their own header. */
function inEitherForm(ports: ModelsPorts, print: { openAi: PrintModels; anthropic: PrintModels }): Handler {
  const answer = (words: PrintModels, shownIn: ShownIn): Handler =>
    withKey(
      ports.ledger,
      async (context, key) => replyJson(context, words(await modelsOf(ports, key), context)),
      shownIn,
    );
  const [openAi, anthropic] = [answer(print.openAi, "authorization"), answer(print.anthropic, "either")];
  return async (context) => {
    if (context.request.headers.get(VERSION_HEADER) === null) return openAi(context);
    try {
      return await anthropic(context);
    } catch (error) {
      return replyRefusal(context.requestId, refusalFrom(error), { format: messages });
    }
  };
}

function named(id: string, open: readonly ListedModel[]): ListedModel {
  const found = open.find((listed) => listed.model === id);
  if (found !== undefined) return found;
  throw modelNotFound(id.slice(0, 64));
}

const offered = (listed: ListedModel): OfferedModel => ({ ...listed, release: firstOf(listed) });

function firstOf({ model: id, routes: [first] }: ListedModel): Release {
  if (first === undefined) throw new Error(`model ${id} is listed without a route`);
  return first.release;
}

/**
 * Standard keys see standard models, research keys those that an active entitlement names (S38); in both cases only the ones that
 * the key may use, with the key's output maximum.
 */
async function modelsOf({ ledger, routeTable }: ModelsPorts, key: KeyRecord): Promise<ListedModel[]> {
  const entitlements = key.scope === "research" ? await activeEntitlements(ledger, key.organizationId) : [];
  const entitled = new Set(entitlements.map((entitlement) => entitlement.model));
  const open = routeTable
    .models()
    .filter(
      ({ model: id }) => allows(key.allowedModels, id) && (key.scope === "standard" || entitled.has(id)),
    )
    .map((listed) => ({
      ...listed,
      routes: listed.routes.filter(({ release }) => release.tier === key.scope),
    }))
    .filter(({ routes }) => routes.length > 0);
  const { maxOutputTokens } = key;
  if (maxOutputTokens === null) return open;
  return open.map((listed) => ({
    ...listed,
    routes: listed.routes.map((route) => ({ ...route, release: puttingOut(route.release, maxOutputTokens) })),
  }));
}

function wireModel(listed: ListedModel): unknown {
  const { model: id, createdAtMs, routes } = listed;
  const release = firstOf(listed);
  return {
    id,
    object: "model",
    created: Math.floor(createdAtMs / 1000),
    owned_by: release.provider,
    shutdown_date: null,
    name: id,
    context_length: release.contextWindow,
    architecture: architectureOf(release),
    top_provider: {
      context_length: release.contextWindow,
      max_completion_tokens: release.maxOutputTokens,
      is_moderated: false,
    },
    per_request_limits: null,
    max_output_tokens: release.maxOutputTokens,
    default_output_tokens: release.defaultOutputTokens,
    pricing: wirePricing(release),
    reasoning: release.reasoning,
    capabilities: release.capabilities,
    supported_parameters: supportedParameters(release),
    tier: release.tier,
    requires_paid: release.requiresPaid,
    state: ROUTE_STATES.find((state) => routes.some((route) => route.state === state)) ?? "disabled",
    routes: routes.map((route) => wireRoute(route, release)),
  };
}

/** Input and output modalities, in OpenRouter's terms. */
function architectureOf({ capabilities, tokenizer }: Release): unknown {
  const input = ["text", ...(capabilities.images ? ["image"] : []), ...(capabilities.files ? ["file"] : [])];
  const output = capabilities.embeddings ? ["embeddings"] : ["text"];
  return {
    modality: `${input.join("+")}->${output.join("+")}`,
    input_modalities: input,
    output_modalities: output,
    tokenizer: tokenizer === "bytes" ? "Other" : "GPT",
    instruct_type: null,
  };
}

function wireRoute({ release, state, reason }: ListedModel["routes"][number], first: Release): unknown {
  const dearer = JSON.stringify(release.publishedPrice) !== JSON.stringify(first.publishedPrice);
  return {
    route: release.route,
    provider: release.provider,
    region: release.region,
    state,
    reason,
    release_version: release.version,
    release_expires_at: printTime(release.expiresAtMs),
    ...(dearer && { pricing: wirePricing(release) }),
  };
}

function wirePricing({ publishedPrice, price }: Release): unknown {
  return {
    currency: "USD",
    ...publishedPrice,
    prompt: perToken(publishedPrice.input_per_million),
    completion: perToken(publishedPrice.output_per_million),
    ...(price.cachedInput !== price.input && {
      input_cache_read: perToken(publishedPrice.cached_input_per_million ?? "0"),
    }),
    ...(publishedPrice.cache_write_per_million !== undefined && {
      input_cache_write: perToken(publishedPrice.cache_write_per_million),
    }),
  };
}

/** Converts a rate per million tokens to a rate per token: the same digits, six places to the right. */
function perToken(perMillion: string): string {
  const digits = String(parseUsd(perMillion) ?? 0n).padStart(16, "0");
  return `${digits.slice(0, -15)}.${digits.slice(-15)}`.replace(/\.?0+$/, "");
}

/** Fields that change what is sent to a provider, if the release has a use for them. */
function supportedParameters({ capabilities, reasoning }: Release): string[] {
  if (capabilities.embeddings) return EMBEDDINGS_FIELDS;
  return LISTED.filter(([name, { needs, beside }]) => {
    const capability = needs ?? beside;
    if (capability !== undefined)
      return Number(capabilities[capability]) > Number(NO_CAPABILITIES[capability]);
    return name !== "reasoning_effort" || reasoning !== null;
  }).map(([name]) => name);
}

/** Fields of /v1/embeddings, other than the model. */
const EMBEDDINGS_FIELDS = ["input", "encoding_format", "dimensions", "user"];
const LAST = 1000;
const LISTED = REQUEST_FIELDS.filter(([, { unlisted }]) => unlisted !== true).toSorted(
  ([, a], [, b]) => (a.place ?? LAST) - (b.place ?? LAST),
);
