// Fields that chat completions know by name and that a surface with names of its own refuses: raw token ids, runtime adapters and
// everything else that chat completions refuse themselves (specification 2.1, wire.md §1.3), and meaningful fields of theirs. None
// of them may reach an upstream of the surface's shape, or be left out where it changes the answer and its cost.
import { REFUSED_FIELDS, type RefusedField } from "./chat-completions/refused-fields.ts";

const LOGIT_BIAS: RefusedField = {
  code: "raw_token_ids_not_allowed",
  text: "works on token ids, which are not accepted here. Remove it.",
  defaults: [{}],
};

/** Default values of some of their fields. */
const DEFAULTS: ReadonlyMap<string, readonly unknown[]> = new Map<string, readonly unknown[]>([
  ["n", [1]],
  ["stop", [[]]],
  ["logprobs", [false]],
  ["response_format", [{ type: "text" }]],
  ["verbosity", ["medium"]],
]);

/** By name. `instead`: what to do here, by the names of fields of theirs, separated by spaces. */
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
