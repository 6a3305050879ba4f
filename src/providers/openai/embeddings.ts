// The embeddings shape: `POST /embeddings` beside chat completions, at the same vendors with the same proof (surfaces.md §5).
// Its bodies are always callers' own (`request.native`); of the answer only its usage is read, and that it is one.
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

/** Whether a call is of this shape, and not a chat. */
export const asksForVectors = ({ native }: Call): boolean => native?.shape === "openai-embeddings";

/** One upstream call: the caller's fields in their order, with this upstream's name of the model and no one's of a user. */
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

/** A text, a list of texts, the ids of one text, or a list of such lists: one vector is asked for each. */
export function inputsOf(input: unknown): readonly (string | readonly number[])[] {
  if (!Array.isArray(input)) return typeof input === "string" ? [input] : [];
  return typeof input[0] === "number" ? [input as number[]] : (input as (string | number[])[]);
}

/** As most models have at most, where the request does not say: a wider one takes more room as it answers. */
const USUAL_DIMENSIONS = 4096;
/** A number in digits, with its comma, and in base64. */
const BYTES_OF = { float: 24, base64: 6 } as const;
/** What stands around a vector. */
const BYTES_AROUND = 64;

/** How long the answer is at most, about. */
function lengthOf({ input, dimensions, encoding_format: encoding }: JsonObject): number {
  const numbers = typeof dimensions === "number" ? dimensions : USUAL_DIMENSIONS;
  const vector = numbers * BYTES_OF[encoding === "base64" ? "base64" : "float"] + BYTES_AROUND;
  return Math.min(inputsOf(input).length * vector, ANSWER_BYTES_MAX);
}

/** An id is one token, and so is each of these words, in no more bytes than any id takes with its comma. */
const textOf = (input: string | readonly number[]): string =>
  typeof input === "string" ? input : " a".repeat(input.length);

/** Reads an answer to as many inputs as were sent. Nothing of it is text: what it cost is its usage alone. */
export class EmbeddingsReader implements AnswerReader<string> {
  id: string | null = null;
  readonly began = false; // of a whole answer nobody asks
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
    if (told === null || told.promptTokens === 0) return; // vectors are of some text: a zero is none of its figures
    this.usageTold = true;
    parts.push({ type: "usage", usage: told });
  }

  close(parts: Part[]): void {
    parts.push({ type: "finish", choice: 0, reason: "stop" });
  }
}

/** Nothing is generated, whatever is told of it; the total says nothing more. */
const NO_OUTPUT = { completion_tokens: 0, total_tokens: null };

/** How large an answer is, its request decides: the upstream did what it was asked, and another would do the same. */
export const tooManyVectors = (): Failure =>
  new Failure("rejected", "unknown", "the vectors are more than are passed on", {
    status: 400,
    param: "input",
  });
