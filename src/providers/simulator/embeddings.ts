// The simulator's face for vectors, beside chat completions: the same input gives the same numbers, and the bill
// counts its tokens. It validates requests as strictly as OpenAI.
import { z } from "zod";
import { countTokens } from "../../pricing/tokens.ts";
import type { SimulatedAnswer } from "./answer.ts";
import type { Behaviour } from "./behaviour.ts";
import { type Face, FaceRefusal, type Heard } from "./face.ts";
import { numbersFrom } from "./words.ts";

const ids = z.array(z.number().int().min(0)).min(1);
const text = z.string().min(1);
const askedSchema = z.strictObject({
  model: text,
  input: z.union([text, ids, z.array(text).min(1).max(2048), z.array(ids).min(1).max(2048)]),
  encoding_format: z.enum(["float", "base64"]).default("float"),
  dimensions: z.number().int().min(1).max(3072).default(16),
  user: z.string().optional(),
});
type AskedVectors = z.infer<typeof askedSchema>;

const FAILED = {
  error: { message: "the simulated model failed", type: "server_error", code: "server_error" },
};

export const embeddingsFace: Face = {
  serves: (path) => path === "/v1/embeddings",
  hear: (body) => {
    const asked = askedSchema.safeParse(body);
    if (asked.success) return heard(asked.data);
    throw new FaceRefusal(asked.error.issues[0]?.message ?? "unreadable", { code: "invalid_request_error" });
  },
  refusal: ({ code, message }) => ({ error: { message, type: "simulated", param: null, code } }),
  contentType: "text/event-stream; charset=utf-8",
};

const heard = (asked: AskedVectors): Heard => ({
  asked: { model: asked.model, messages: [] },
  run: async () => ({ promptTokens: await tokensOf(asked), topLogprobs: null, choices: [] }),
  whole: (answer, behaviour) => printed(asked, answer, behaviour),
  failed: FAILED,
  stream: () => {
    throw new Error("embeddings cannot be streamed");
  },
});

const inputsOf = ({ input }: AskedVectors): (string | number[])[] =>
  typeof input === "string"
    ? [input]
    : typeof input[0] === "number"
      ? [input as number[]]
      : (input as string[]);

/** In a demo its token counts take turns with those of the gateway. */
const SHARE = { organizationId: "simulator", lane: "progress" } as const;

/** A token id is one token. */
async function tokensOf(asked: AskedVectors): Promise<number> {
  let tokens = 0;
  for (const input of inputsOf(asked))
    tokens += typeof input === "string" ? await countTokens([input], "o200k_base", SHARE) : input.length;
  return tokens;
}

function printed(asked: AskedVectors, { promptTokens }: SimulatedAnswer, behaviour: Behaviour): unknown {
  const prompt_tokens = behaviour.usage?.prompt_tokens ?? promptTokens;
  const usage = behaviour.usage_as_is ?? { prompt_tokens, total_tokens: prompt_tokens };
  return {
    object: "list",
    data: inputsOf(asked).map((input, index) => ({
      object: "embedding",
      index,
      embedding: vectorOf(input, asked),
    })),
    model: asked.model,
    ...(behaviour.no_usage !== true && { usage }),
  };
}

/** Of length one, like OpenAI's vectors. */
function vectorOf(input: string | number[], { model, dimensions, encoding_format }: AskedVectors): unknown {
  const next = numbersFrom(`${model}\n${JSON.stringify(input)}`);
  const numbers = Float32Array.from({ length: dimensions }, () => next() / 2 ** 31 - 1);
  const length = Math.hypot(...numbers) || 1;
  const vector = numbers.map((number) => number / length);
  return encoding_format === "float" ? [...vector] : Buffer.from(vector.buffer).toString("base64");
}
