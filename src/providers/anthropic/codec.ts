// The Anthropic Messages shape behind any of its envelopes (providers.md §1).
import type { Authorize, Codec } from "../codec.ts";
import { SseEvents } from "../http/sse.ts";
import { readClaudeError } from "./read-error.ts";
import { ClaudeReader } from "./reader.ts";
import { type Contract, contractOf } from "./contracts.ts";
import { ENVELOPES, type EnvelopeName, type EnvelopeOwn } from "./envelopes.ts";
import { CLAUDE_FIELDS, claudeBody } from "./request-body.ts";

export interface ClaudeAccount {
  envelope: EnvelopeName;
  /** Its settings. */
  own: EnvelopeOwn;
  /** What is known of its models, whatever their names say. */
  contract: Partial<Contract>;
  authorize: Authorize;
}

export function claudeCodec({ envelope: name, own, contract, authorize }: ClaudeAccount): Codec<string> {
  const envelope = ENVELOPES[name];
  const { versionInBody, binding } = envelope;
  return {
    fields: CLAUDE_FIELDS,
    temperatureMax: 1,
    files: true,
    idHeader: envelope.idHeader,
    prepare: (draft) => claudeBody(draft, { contract, versionInBody, dropsUnbound: binding }),
    target: ({ request, upstreamModel }) => ({
      path: envelope.path(own, { model: upstreamModel, stream: request.stream }),
      headers: {
        "content-type": "application/json",
        accept: request.stream ? "text/event-stream" : "application/json",
        ...(versionInBody === null && { "anthropic-version": API_VERSION }),
        ...(binding &&
          { ...contractOf(upstreamModel), ...contract }.bound && { "anthropic-beta": BINDING_CONTROLS }),
      },
    }),
    authorize,
    framing: () => new SseEvents(),
    reader: () => new ClaudeReader(),
    readError: readClaudeError,
  };
}

const API_VERSION = "2023-06-01";
/** Without it the vendor refuses a conversation whose thoughts stand behind another beginning; only its own API knows it. */
const BINDING_CONTROLS = "thinking-binding-controls-2026-08-01";
