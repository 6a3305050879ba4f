// What chat completions know by name and a surface with words of its own refuses: raw token ids, runtime adapters and all else
// that they refuse themselves (specification 2.1, wire.md §1.3), and fields of theirs that mean something, so that none of them
// reaches an upstream of the surface's shape, or is left out where it changes what is said and what it costs.
import { REFUSED_FIELDS, type RefusedField } from "./chat-completions/refused-fields.ts";

const LOGIT_BIAS: RefusedField = {
  code: "raw_token_ids_not_allowed",
  text: "works on token ids, which are not accepted here. Remove it.",
};

/** By name. `instead`: of fields of theirs, separated by blanks, what to do here. */
export function refusedOfChat(instead: Readonly<Record<string, string>>): [string, RefusedField][] {
  const theirs = Object.entries(instead).flatMap(([names, text]) =>
    names
      .split(" ")
      .map((name): [string, RefusedField] => [
        name,
        { code: "unknown_parameter", text: `is a field of chat completions. ${text}` },
      ]),
  );
  return [...REFUSED_FIELDS, ["logit_bias", LOGIT_BIAS], ...theirs];
}
