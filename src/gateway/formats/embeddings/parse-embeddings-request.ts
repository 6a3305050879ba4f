// Turns a decoded body into an embeddings request, or refuses its first wrong field (docs/decisions/0050-texts-and-vectors.md). All
// of it is checked here, because it goes upstream as it was written.
import { type ChatRequest, emptyRequest } from "../../../domain/chat-request.ts";
import {
  echo,
  found,
  invalid,
  isPresent,
  type JsonObject,
  type Place,
  readBoundedString,
  readChoice,
  readInteger,
  refuse,
  requireRange,
} from "../../../domain/read-value.ts";
import type { Refusal } from "../../../domain/refusals.ts";
import { objectBody, requireFields, unknownField } from "../../../domain/request-body.ts";
import { parseModel } from "../chat-completions/parse-plain-fields.ts";
import { REFUSED_FIELDS, saysNothing } from "../chat-completions/refused-fields.ts";

export type VectorEncoding = "float" | "base64";

export interface ParsedEmbeddings {
  request: ChatRequest;
  encoding: VectorEncoding;
}

/** OpenAI's limit; no client's list is longer. */
const INPUTS_MAX = 2048;
/**
 * Far above the limit of any model for one request, which its provider enforces; a token id counts as four characters.
 */
const INPUT_CHARACTERS_MAX = 1024 * 1024;
const ALL_CHARACTERS_MAX = 4 * INPUT_CHARACTERS_MAX;
const CHARACTERS_PER_ID = 4;
const ID_MAX = 2 ** 31 - 1;
const DIMENSIONS_MAX = 65_536;
const USER_LENGTH_MAX = 512;

const INPUT: Place = { parent: null, step: "input" };

/** By name, in the order of OpenAI's schema; each throws a Refusal with `param`. */
const READERS: Record<string, (value: unknown, parsed: ParsedEmbeddings) => void> = {
  model: (value, { request }) => {
    request.model = parseModel(value);
  },
  input: checkInputs,
  encoding_format: (value, parsed) => {
    parsed.encoding = readChoice(value, ["float", "base64"], null, "encoding_format");
  },
  dimensions: (value) => {
    const dimensions = readInteger(value, null, "dimensions");
    requireRange(dimensions, { min: 1, max: DIMENSIONS_MAX }, "integer", "dimensions");
  },
  user: (value, { request }) => {
    request.identifiers.user = readBoundedString(value, null, "user", USER_LENGTH_MAX);
  },
};
const FIELDS: ReadonlyMap<string, (typeof READERS)[string]> = new Map(Object.entries(READERS));

const REQUIRED = ["model", "input"] as const;

/** Reads a decoded body. Throws a Refusal with `param` for the first invalid field, in body order. */
export function parseEmbeddingsRequest(decoded: unknown): ParsedEmbeddings {
  const body = objectBody(decoded);
  const parsed: ParsedEmbeddings = { request: emptyRequest(), encoding: "float" };
  const said: JsonObject = {};
  for (const name of Object.keys(body)) {
    const read = FIELDS.get(name);
    if (read === undefined) {
      refuseField(name, body[name]);
      continue;
    }
    if (!isPresent(body[name])) continue;
    read(body[name], parsed);
    said[name] = body[name];
  }
  requireFields(body, REQUIRED);
  const { request } = parsed;
  request.maxTokens = 0;
  request.native = { shape: "openai-embeddings", body: said, headers: {}, only: notOffered(request.model) };
  return parsed;
}

/** Refuses an adapter as one, any other field as unknown; `null` counts as absent for fields that are refused by name. */
function refuseField(name: string, value: unknown): void {
  const refused = REFUSED_FIELDS.get(name);
  if (refused !== undefined && saysNothing(value, refused)) return;
  if (refused?.code === "runtime_adapter_not_allowed") throw refuse(refused.code, null, name, refused.text);
  throw unknownField(name);
}

/** For a model whose provider speaks another shape. */
const notOffered = (model: string): Refusal =>
  refuse(
    "unsupported_value",
    null,
    "model",
    `${echo(model)} is served here by a provider without embeddings.`,
  );

/** A vector is requested for each input: a text, the token ids of one, or each entry of a list of either. */
function checkInputs(value: unknown): void {
  if (!Array.isArray(value)) {
    readInput(value, null, "input");
    return;
  }
  const items: unknown[] = value;
  if (items.length === 0) throw invalid(null, "input", "must not be empty.");
  if (typeof items[0] === "number") {
    readInput(items, null, "input");
    return;
  }
  if (items.length > INPUTS_MAX)
    throw refuse(
      "array_above_max_length",
      null,
      "input",
      `may have at most ${INPUTS_MAX} inputs. Send several requests.`,
    );
  let characters = 0;
  for (const [index, item] of items.entries()) {
    characters += readInput(item, INPUT, index);
    if (typeof item !== typeof items[0])
      throw invalid(INPUT, index, "must be of the same kind as the first input.");
    if (characters > ALL_CHARACTERS_MAX)
      throw refuse(
        "string_above_max_length",
        null,
        "input",
        `may have at most ${ALL_CHARACTERS_MAX} characters in total. ${SEVERAL}`,
      );
  }
}

/** Checks one input; returns its weight in characters. */
function readInput(value: unknown, at: Place, step: string | number): number {
  if (Array.isArray(value)) return readIds(value, at, step);
  if (typeof value !== "string")
    throw invalid(at, step, `must be a string, a list of strings, or token ids, ${found(value)}.`);
  if (value === "") throw invalid(at, step, "must not be empty.");
  if (value.length <= INPUT_CHARACTERS_MAX) return value.length;
  throw refuse(
    "string_above_max_length",
    at,
    step,
    `may have at most ${INPUT_CHARACTERS_MAX} characters. ${SEVERAL}`,
  );
}

const SEVERAL = "Send several requests.";

function readIds(ids: unknown[], at: Place, step: string | number): number {
  if (ids.length === 0) throw invalid(at, step, "must not be empty.");
  const most = INPUT_CHARACTERS_MAX / CHARACTERS_PER_ID;
  if (ids.length > most)
    throw refuse("array_above_max_length", at, step, `may have at most ${most} token ids. ${SEVERAL}`);
  for (const [place, id] of ids.entries())
    if (!Number.isInteger(id) || Number(id) < 0 || Number(id) > ID_MAX)
      throw invalid({ parent: at, step }, place, "must be a token id, a whole number of 0 or more.");
  return ids.length * CHARACTERS_PER_ID;
}
