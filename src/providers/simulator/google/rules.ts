// What Gemini rejects in a readable body: a conversation whose calls and answers do not pair, a thought signature
// that is missing or not its own, thinking outside its bounds.
import { FaceRefusal } from "../face.ts";
import { geminiModel } from "../../google/models.ts";
import { NO_SIGNATURE } from "../../google/signatures.ts";
import { type CallContent, type GeminiCall, isCalled } from "./body.ts";
import { isSealOf } from "./signature.ts";

/** Throws `FaceRefusal` with the vendor's words. */
export function requireAcceptable(call: GeminiCall, model: string): void {
  const refuse = (message: string): never => {
    throw new FaceRefusal(message, { model });
  };
  const turns = turnsOf(call.contents);
  const found =
    unpaired(turns) ?? unsigned(turns, model) ?? unthinkable(call, model) ?? unchosen(call) ?? unasked(call);
  if (found !== null) refuse(found);
}

/** Joins consecutive contents of the model, which are one turn. */
function turnsOf(contents: readonly CallContent[]): CallContent[] {
  const turns: CallContent[] = [];
  for (const { role, parts } of contents) {
    const last = turns.at(-1);
    if (role === "model" && last?.role === "model") last.parts.push(...parts);
    else turns.push({ role, parts: [...parts] });
  }
  return turns;
}

const answersOf = ({ parts }: CallContent): string[] =>
  parts.flatMap((part) => ("functionResponse" in part ? [part.functionResponse.name] : []));
const callsOf = ({ parts }: CallContent): string[] =>
  parts.filter(isCalled).map(({ functionCall }) => functionCall.name);

function unpaired(contents: readonly CallContent[]): string | null {
  for (const [at, content] of contents.entries()) {
    const [before, after] = [contents[at - 1], contents[at + 1]];
    const [calls, answers] = [callsOf(content), answersOf(content)];
    if (calls.length > 0 && content.role !== "model") return "Function calls must come from the model.";
    if (calls.length > 0 && before?.role !== "user")
      return "Please ensure that function call turn comes immediately after a user turn or after a function response turn.";
    if (calls.length > 0 && (after === undefined || answersOf(after).length !== calls.length))
      return "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.";
    if (answers.length > 0 && (before === undefined || callsOf(before).join() !== answers.join()))
      return "Please ensure that function response turn comes immediately after a function call turn.";
  }
  return contents.at(-1)?.role === "user" ? null : "Please ensure that the last turn is of the user.";
}

/**
 * Signatures are required within the current turn, which begins with the user's last message; existing ones are
 * checked everywhere.
 */
function unsigned(contents: readonly CallContent[], model: string): string | null {
  const { signed } = geminiModel(model);
  const turn = contents.findLastIndex(
    (content) => content.role === "user" && answersOf(content).length < content.parts.length,
  );
  for (const [at, content] of contents.entries()) {
    const calls = content.parts.filter(isCalled);
    for (const { functionCall, thoughtSignature } of calls) {
      if (thoughtSignature === undefined || (signed && thoughtSignature === NO_SIGNATURE)) continue;
      if (!isSealOf(thoughtSignature, model, functionCall)) return "Corrupted thought signature.";
    }
    const [first] = calls;
    if (signed && at > turn && first !== undefined && first.thoughtSignature === undefined)
      return `Function call is missing a thought_signature in functionCall parts. Function call \`default_api:${first.functionCall.name}\`, position ${at}.`;
  }
  return null;
}

function unthinkable({ generationConfig = {} }: GeminiCall, model: string): string | null {
  const { thinkingConfig, maxOutputTokens = Number.POSITIVE_INFINITY } = generationConfig;
  if (thinkingConfig === undefined) return null;
  const { thinkingBudget: budget, thinkingLevel: level } = thinkingConfig;
  const { thinking } = geminiModel(model);
  if (budget !== undefined && level !== undefined)
    return "You can only set only one of thinking budget and thinking level.";
  if (thinking.kind === "level") {
    if (budget !== undefined) return "Thinking budget is not supported for this model.";
    const least = level === "MINIMAL" && thinking.least === "LOW";
    return least || (level === "MEDIUM" && !thinking.medium)
      ? `Thinking level ${level} is not supported for this model.`
      : null;
  }
  if (level !== undefined) return "Thinking level is not supported for this model.";
  if (budget === undefined || budget === -1 || (budget === 0 && thinking.off)) return null;
  const within = budget >= thinking.least && budget <= thinking.most && budget < maxOutputTokens;
  return within
    ? null
    : `The thinking budget ${budget} is invalid. Please choose a value between ${thinking.least} and ${thinking.most}.`;
}

function unchosen({ tools, toolConfig }: GeminiCall): string | null {
  if (toolConfig === undefined) return null;
  const { mode, allowedFunctionNames: names = [] } = toolConfig.functionCallingConfig;
  const declared = tools?.flatMap(({ functionDeclarations: list }) => list.map((one) => one.name)) ?? [];
  if (declared.length === 0) return "Function calling config is set without function_declarations.";
  if (names.length > 0 && mode !== "ANY" && mode !== "VALIDATED")
    return "Allowed function names should only be set when the function calling mode is ANY or VALIDATED.";
  return names.every((one) => declared.includes(one))
    ? null
    : "Allowed function names must be among the function declarations.";
}

const unasked = ({
  generationConfig: { responseLogprobs = false, logprobs } = {},
}: GeminiCall): string | null =>
  logprobs === undefined || responseLogprobs
    ? null
    : "Logprobs can only be set when response_logprobs is set to true.";
