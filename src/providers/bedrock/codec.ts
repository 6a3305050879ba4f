// Converse: one shape for the models of Bedrock that have no better one (providers.md §1).
import type { Authorize, Codec } from "../codec.ts";
import { ConverseReader } from "./answer-reader.ts";
import { readRefusal } from "./errors.ts";
import { type BedrockEvent, BedrockEvents } from "./event-stream.ts";
import { familyOf, signerOf } from "./families.ts";
import { CONVERSE_FIELDS, converseBody, type ConverseDialect } from "./request-body.ts";

export interface ConverseAccount extends ConverseDialect {
  authorize: Authorize;
}

export const converseCodec = ({ authorize, ...dialect }: ConverseAccount): Codec<BedrockEvent> => ({
  fields: CONVERSE_FIELDS,
  temperatureMax: 1,
  files: true,
  idHeader: "x-amzn-requestid",
  prepare: (draft) => converseBody(draft, dialect),
  target: ({ upstreamModel, request: { stream } }) => ({
    // A model may be named by an ARN, which has slashes and colons.
    path: `/model/${encodeURIComponent(upstreamModel)}/converse${stream ? "-stream" : ""}`,
    headers: {
      "content-type": "application/json",
      accept: stream ? "application/vnd.amazon.eventstream" : "application/json",
    },
  }),
  authorize,
  framing: () => new BedrockEvents(),
  reader: ({ upstreamModel }) =>
    new ConverseReader(signerOf(upstreamModel, familyOf(upstreamModel, dialect.family))),
  readError: readRefusal,
});
