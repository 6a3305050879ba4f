// The embeddings shape: `POST /embeddings` beside chat completions, at the same vendors with the same credentials
// (surfaces.md §5). Its bodies are always callers' own (`request.native`). An answer is only checked to be one, and
// its usage read.
import { ANSWER_BYTES_MAX } from "../../domain/answer-size.ts";
import type { JsonObject } from "../../domain/read-value.ts";
import type { PromptSize } from "../../domain/prompt.ts";
import { isJsonObject } from "../../domain/read-value.ts";
import { answerIdOf } from "../answer-id.ts";
import type { AnswerReader } from "../codec.ts";
import { Failure } from "../failure.ts";
import type { CallDraft, OutgoingBody, Part } from "../provider.ts";
import { readUsage } from "./usage.ts";
import { vectorsIn } from "./vectors.ts";

type Call = Pick<CallDraft["request"], "native">;

/** True if a call is of this shape, and not a chat. */
export const asksForVectors = ({ native }: Call): boolean => native?.shape === "openai-embeddings";

/**
 * Builds one upstream call: the caller's fields in their order, with the upstream's name of the model, and the HMAC of
 * `user` in place of its value.
 */
export const embeddingsBody = (draft: CallDraft, known: readonly string[]): OutgoingBody =>
  new EmbeddingsBody(draft, known);

class EmbeddingsBody implements OutgoingBody {
  readonly native = true;
  readonly places = true;
  readonly size: PromptSize;
  readonly answerBytes: number;
  readonly ignored: readonly string[];
  private readonly fields: JsonObject;
  private printed: string | null;

  constructor({ request, release, identifiers }: CallDraft, known: readonly string[]) {
    const fields: JsonObject = { ...request.native?.body, model: release.upstreamModel };
    delete fields["user"];
    const { user } = identifiers;
    const told = user !== undefined && known.includes("user");
    if (told) fields["user"] = user;
    this.ignored = user === undefined || told ? [] : ["user"];
    this.fields = fields;
    this.printed = JSON.stringify(fields);
    this.answerBytes = lengthOf(fields);
    // The inputs have no frame that a model would read; their quotes and commas are counted as bytes.
    this.size = { bytes: Buffer.byteLength(this.printed), messages: 0, tools: 0, images: 0, files: 0 };
  }

  text(): string {
    return inputsOf(this.fields["input"]).map(textOf).join("\n");
  }

  print(): string {
    return this.printed ?? JSON.stringify(this.fields);
  }

  sent(): void {
    this.printed = null;
  }
}

/**
 * Returns the inputs, with one vector each: from a text, a list of texts, the token ids of one text, or a list of
 * such lists.
 */
export function inputsOf(input: unknown): readonly (string | readonly number[])[] {
  if (!Array.isArray(input)) return typeof input === "string" ? [input] : [];
  return typeof input[0] === "number" ? [input as number[]] : (input as (string | number[])[]);
}

/**
 * The most that most models have, used if the request has none: a wider vector reserves more room as the answer
 * arrives.
 */
const USUAL_DIMENSIONS = 4096;
/** The bytes of a number with its comma, in digits and in base64. */
const BYTES_OF = { float: 24, base64: 6 } as const;
/** The bytes around a vector. */
const BYTES_AROUND = 64;

/** Returns the approximate maximum length of the answer. */
function lengthOf({ input, dimensions, encoding_format: encoding }: JsonObject): number {
  const numbers = typeof dimensions === "number" ? dimensions : USUAL_DIMENSIONS;
  const vector = numbers * BYTES_OF[encoding === "base64" ? "base64" : "float"] + BYTES_AROUND;
  return Math.min(inputsOf(input).length * vector, ANSWER_BYTES_MAX);
}

/** A token id is one token, and so is each of these words, which have no more bytes than any id with its comma. */
const textOf = (input: string | readonly number[]): string =>
  typeof input === "string" ? input : " a".repeat(input.length);

/** Reads an answer to a number of inputs. None of it is text: its usage alone is its cost. */
export class EmbeddingsReader implements AnswerReader<string> {
  id: string | null = null;
  readonly began = false; // not used for a whole answer
  complete = false;
  usageTold = false;
  vectors: readonly string[] = [];

  constructor(private readonly inputs: number) {}

  event(): never {
    throw new Failure("broken", "unknown", "the upstream streamed vectors");
  }

  whole(text: string, parts: Part[]): void {
    const { body, list } = vectorsIn(text, this.inputs);
    const { id, usage } = body;
    this.vectors = list;
    this.id = answerIdOf(id);
    this.complete = true;
    if (!isJsonObject(usage)) return;
    const told = readUsage({
      ...usage,
      prompt_tokens: usage["prompt_tokens"] ?? usage["total_tokens"],
      ...NO_OUTPUT,
    });
    if (told === null || told.promptTokens === 0) return; // vectors are of some text, so zero is no usage
    this.usageTold = true;
    parts.push({ type: "usage", usage: told });
  }

  close(parts: Part[]): void {
    parts.push({ type: "finish", choice: 0, reason: "stop" });
  }
}

/** Nothing is generated, whatever is reported; the total adds nothing. */
const NO_OUTPUT = { completion_tokens: 0, total_tokens: null };

/** The request decides how large an answer is: the upstream did as it was asked, and another one would do the same. */
export const tooManyVectors = (): Failure =>
  new Failure("rejected", "unknown", "the vectors are too large to pass on", {
    status: 400,
    param: "input",
  });
