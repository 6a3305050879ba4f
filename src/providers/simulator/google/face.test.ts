// This face is as strict as the vendor: what Gemini rejects, it rejects.
import { expect, test } from "bun:test";
import { samplePdf } from "../../../lib/pdf.fixtures.ts";
import { FaceRefusal } from "../face.ts";
import { generateContent } from "./face.ts";
import { geminiSeal } from "./signature.ts";

const FLASH = "gemini-3.8-flash";
const OLD = "gemini-2.5-pro";

/** Returns its reason for rejecting a body, or null. */
function refusalFor(
  body: unknown,
  model = FLASH,
  headers: Record<string, string> = { "x-goog-api-key": "k" },
): string | null {
  try {
    generateContent.hear(body, `/google/v1beta/models/${model}:generateContent`, headers);
    return null;
  } catch (error) {
    if (error instanceof FaceRefusal) return error.message;
    throw error;
  }
}

const user = { role: "user", parts: [{ text: "Go." }] };
const call = (signature?: string, args: object = { a: 1 }): object => ({
  functionCall: { name: "f", args },
  ...(signature !== undefined && { thoughtSignature: signature }),
});
const called = (...parts: object[]): object => ({ role: "model", parts });
const answer = { functionResponse: { name: "f", response: { output: "1" } } };
const answered = (count = 1): object => ({
  role: "user",
  parts: Array.from({ length: count }, () => answer),
});
const PDF = { mimeType: "application/pdf" };
const pdf = (data: Buffer): object => ({ inlineData: { ...PDF, data: data.toString("base64") } });
const own = (model: string): string => geminiSeal(model, { name: "f", args: { a: 1 } });
const tools = [{ functionDeclarations: [{ name: "f" }] }];
const thinking = (thinkingConfig: object, maxOutputTokens = 8192): object => ({
  contents: [user],
  generationConfig: { maxOutputTokens, thinkingConfig },
});

test.each<[string, unknown, string?]>([
  ["what is said plainly", { contents: [user] }],
  ["a turn of a tool", { contents: [user, called(call(own(FLASH))), answered()], tools }],
  [
    "calls at once, of which the first is signed",
    { contents: [user, called(call(own(FLASH)), call()), answered(2)] },
  ],
  [
    "word that there is no signature",
    { contents: [user, called(call("skip_thought_signature_validator")), answered()] },
  ],
  [
    "a call without a signature in a turn that is over",
    { contents: [user, called(call()), answered(), user] },
  ],
  ["no signature, of a model that asks for none", { contents: [user, called(call()), answered()] }, OLD],
  [
    "what a model said piece by piece, the empty end of its stream among it",
    {
      contents: [
        user,
        called({ text: "Hm.", thought: true }),
        called(call(own(FLASH))),
        called(call()),
        called({ text: "" }),
        answered(2),
      ],
    },
  ],
  ["a document", { contents: [{ role: "user", parts: [{ text: "a" }, pdf(samplePdf())] }] }],
  [
    "arguments that the client completed",
    { contents: [user, called(call(own(FLASH), { b: false, a: 1 })), answered()] },
  ],
  ["a budget within its bounds", thinking({ thinkingBudget: 128 }), OLD],
  ["a budget that the model decides", thinking({ thinkingBudget: -1 }), OLD],
])("takes %s", (_, body, model = FLASH) => {
  expect(refusalFor(body, model)).toBeNull();
});

test.each<[string, unknown, string, string?]>([
  ["a field that it does not know", { contents: [user], model: FLASH }, "Unrecognized key"],
  [
    "a part with a field that it does not know",
    { contents: [{ role: "user", parts: [{ text: "a", x: 1 }] }] },
    "Invalid",
  ],
  ["no contents", { contents: [] }, "contents is not specified"],
  ["an empty text", { contents: [{ role: "user", parts: [{ text: "" }] }] }, "Invalid"],
  [
    "a document without pages",
    { contents: [{ role: "user", parts: [pdf(Buffer.from("%PDF-1.7"))] }] },
    "no pages",
  ],
  [
    "data that is no base64",
    { contents: [{ role: "user", parts: [{ inlineData: { ...PDF, data: "a" } }] }] },
    "Invalid",
  ],
  ["a role of its own", { contents: [{ role: "system", parts: [{ text: "a" }] }] }, "Invalid"],
  [
    "a call without its answer",
    { contents: [user, called(call(own(FLASH)))] },
    "number of function response parts",
  ],
  [
    "two calls with one answer",
    { contents: [user, called(call(own(FLASH)), call()), answered()] },
    "number of function response parts",
  ],
  [
    "an answer without its call",
    { contents: [user, answered()] },
    "comes immediately after a function call turn",
  ],
  [
    "an answer after something else",
    { contents: [user, called(call(own(FLASH))), user, answered()] },
    "number of function response parts",
  ],
  [
    "a call that follows nothing",
    { contents: [called(call(own(FLASH))), answered()] },
    "function call turn comes immediately",
  ],
  ["a conversation that ends with the model", { contents: [user, called({ text: "a" })] }, "last turn"],
  [
    "arguments that the client changed",
    { contents: [user, called(call(own(FLASH), { a: 2 })), answered()] },
    "Corrupted thought signature",
  ],
  [
    "a call without its signature",
    { contents: [user, called(call()), answered()] },
    "is missing a thought_signature",
  ],
  [
    "a later step without its signature",
    { contents: [user, called(call(own(FLASH))), answered(), called(call()), answered()] },
    "is missing a thought_signature",
  ],
  [
    "a signature of another model",
    { contents: [user, called(call(own(OLD))), answered()] },
    "Corrupted thought signature",
  ],
  [
    "a signature that nobody issued",
    { contents: [user, called(call("AAAA")), answered(), user] },
    "Corrupted thought signature",
  ],
  ["a budget too small", thinking({ thinkingBudget: 100 }), "thinking budget 100 is invalid", OLD],
  [
    "a budget of nothing where thinking cannot be switched off",
    thinking({ thinkingBudget: 0 }),
    "is invalid",
    OLD,
  ],
  ["a budget above the maximum", thinking({ thinkingBudget: 1024 }, 1000), "is invalid", OLD],
  ["a budget where there are levels", thinking({ thinkingBudget: 1024 }), "budget is not supported"],
  ["a level where there are budgets", thinking({ thinkingLevel: "LOW" }), "level is not supported", OLD],
  ["both", thinking({ thinkingLevel: "LOW", thinkingBudget: 1024 }), "only one"],
  [
    "a level that the model lacks",
    thinking({ thinkingLevel: "MINIMAL" }),
    "MINIMAL is not supported",
    "gemini-3-pro-preview",
  ],
  [
    "a choice among nothing",
    { contents: [user], toolConfig: { functionCallingConfig: { mode: "ANY" } } },
    "without function_declarations",
  ],
  [
    "names beside AUTO",
    {
      contents: [user],
      tools,
      toolConfig: { functionCallingConfig: { mode: "AUTO", allowedFunctionNames: ["f"] } },
    },
    "only be set",
  ],
  [
    "a tool with a name that is none",
    { contents: [user], tools: [{ functionDeclarations: [{ name: "1f" }] }] },
    "Invalid function name",
  ],
  [
    "alternatives where no log probabilities are asked for",
    { contents: [user], generationConfig: { logprobs: 2 } },
    "response_logprobs",
  ],
  [
    "a seed of more than 32 bits",
    { contents: [user], generationConfig: { seed: 2 ** 31 } },
    "generationConfig.seed",
  ],
])("refuses %s", (...[, body, why, model = FLASH]) => {
  expect(refusalFor(body, model)).toContain(why);
});

test("nobody calls without saying who he is", () => {
  expect(refusalFor({ contents: [user] }, FLASH, {})).toContain("unregistered callers");
  expect(refusalFor({ contents: [user] }, FLASH, { authorization: "Bearer t" })).toBeNull();
});
