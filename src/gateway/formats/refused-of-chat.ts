// What chat completions know by name and a surface with words of its own refuses: raw token ids, runtime adapters and all else
// that they refuse themselves (specification 2.1, wire.md §1.3), and fields of theirs that mean something, so that none of them
// reaches an upstream of the surface's shape, or is left out where it changes what is said and what it costs.
import { REFUSED_FIELDS, type RefusedField } from "./chat-completions/refused-fields.ts";

const LOGIT_BIAS: RefusedField = {
  code: "raw_token_ids_not_allowed",
  text: "works on token ids, which are not accepted here. Remove it.",
  defaults: [{}],
};

/** What some of their fields are without being said. */
const DEFAULTS: ReadonlyMap<string, readonly unknown[]> = new Map<string, readonly unknown[]>([
  ["n", [1]],
  ["stop", [[]]],
  ["logprobs", [false]],
  ["response_format", [{ type: "text" }]],
  ["verbosity", ["medium"]],
]);

/** By name. `instead`: of fields of theirs, separated by blanks, what to do here. */
export function refusedOfChat(instead: Readonly<Record<string, string>>): [string, RefusedField][] {
  const theirs = Object.entries(instead).flatMap(([names, text]) =>
    names.split(" ").map((name): [string, RefusedField] => {
      const defaults = DEFAULTS.get(name);
      const row = { code: "unknown_parameter", text: `is a field of chat completions. ${text}` } as const;
      return [name, defaults === undefined ? row : { ...row, defaults }];
    }),
  );
  return [...REFUSED_FIELDS, ["logit_bias", LOGIT_BIAS], ...theirs];
}
