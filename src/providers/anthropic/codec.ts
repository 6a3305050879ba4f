// The Anthropic Messages shape in any of its envelopes (providers.md §1).
import { isJsonObject } from "../../domain/read-value.ts";
import type { Authorize, Codec } from "../codec.ts";
import { readJson } from "../http/json.ts";
import { SseEvents } from "../http/sse.ts";
import { readClaudeError } from "./read-error.ts";
import { ClaudeReader } from "./reader.ts";
import { type Contract, contractOf } from "./contracts.ts";
import { ENVELOPES, type EnvelopeName, type EnvelopeOwn } from "./envelopes.ts";
import type { OutgoingBody } from "../provider.ts";
import { BETA_HEADER } from "./betas.ts";
import { nativeClaudeBody } from "./native-body.ts";
import { CLAUDE_FIELDS, claudeBody } from "./request-body.ts";

export interface ClaudeAccount {
  envelope: EnvelopeName;
  /** The envelope's settings. */
  own: EnvelopeOwn;
  /** What is known of its models, whatever their names say. */
  contract: Partial<Contract>;
  authorize: Authorize;
}

export function claudeCodec({ envelope: name, own, contract, authorize }: ClaudeAccount): Codec<string> {
  const envelope = ENVELOPES[name];
  const { versionInBody, binding, systemTurns } = envelope;
  const headersOf = (upstreamModel: string, { headers }: OutgoingBody): Record<string, string> => ({
    "content-type": "application/json",
    ...(versionInBody === null && { "anthropic-version": API_VERSION }),
    ...betaHeader(
      headers?.[BETA_HEADER],
      binding && { ...contractOf(upstreamModel), ...contract }.bound ? BINDING_CONTROLS : null,
    ),
  });
  return {
    fields: CLAUDE_FIELDS,
    temperatureMax: 1,
    files: true,
    idHeader: envelope.idHeader,
    speaks: ["anthropic-messages"],
    prepare(draft) {
      const dialect = { contract, versionInBody, dropsUnbound: binding, host: name, systemTurns };
      const { native } = draft.request;
      return native?.shape === "anthropic-messages"
        ? nativeClaudeBody(draft, native, dialect)
        : claudeBody(draft, dialect);
    },
    target: ({ request, upstreamModel, body }) => ({
      path: envelope.path(own, { model: upstreamModel, stream: request.stream }),
      headers: {
        accept: request.stream ? "text/event-stream" : "application/json",
        ...headersOf(upstreamModel, body),
      },
    }),
    ...(envelope.counts && {
      counting: {
        target: ({ upstreamModel, body }) => ({
          path: "/messages/count_tokens",
          headers: { accept: "application/json", ...headersOf(upstreamModel, body) },
        }),
        read: countIn,
      },
    }),
    authorize,
    framing: () => new SseEvents(),
    reader: () => new ClaudeReader(),
    readError: readClaudeError,
  };
}

/** Returns the count; null if there is none. */
function countIn(text: string): number | null {
  const answer = readJson(text);
  const tokens = isJsonObject(answer) ? answer["input_tokens"] : null;
  return typeof tokens === "number" && Number.isSafeInteger(tokens) && tokens >= 0 ? tokens : null;
}

/** Joins the caller's names and ours. */
function betaHeader(given: string | undefined, ours: string | null): Record<string, string> {
  const names = new Set([...(given === undefined ? [] : given.split(",")), ...(ours === null ? [] : [ours])]);
  return names.size === 0 ? {} : { [BETA_HEADER]: [...names].join(",") };
}

const API_VERSION = "2023-06-01";
/** Without it the vendor rejects a conversation whose thoughts follow another beginning; only its own API knows it. */
const BINDING_CONTROLS = "thinking-binding-controls-2026-08-01";
