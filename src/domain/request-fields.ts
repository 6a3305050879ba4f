// The request fields that reach a provider (wire.md §1.1), one row each. This table defines what a neutral request holds, how a
// plain field is read, what a dialect may leave out, which capability a field needs, what counts as text and what `/v1/models`
// lists. Fields with a structure or a meaning of their own (`own`) are read by their format.
import type { Capability } from "./capabilities.ts";
import { choice, decimal, type FieldRead, integer, text, toggle, tokenBiases } from "./field-readers.ts";

interface FieldTraits {
  /** Not every upstream supports it: each provider says whether it does (wire.md §8.5). */
  optional?: true;
  /** Refused if the release does not offer it, or the provider does not support the field. */
  needs?: Capability;
  /** Has a meaning only together with what that capability offers. */
  beside?: Capability;
  /** A setting of the gateway or from a closed list, which no model reads: not in the exact count of a prompt. */
  setting?: true;
  /** Its position in `supported_parameters`; fields without one follow. */
  place?: number;
  /** Not in `supported_parameters`. */
  unlisted?: true;
}

/** Forwarded to upstreams that support it, else ignored and named (action F). */
const forwarded = <T, const O extends FieldTraits>(read: FieldRead<T>, traits: O) => ({
  held: "forwarded" as const,
  optional: true as const,
  read,
  ...traits,
});

/** Chosen by the caller to distinguish its users and conversations; forwarded only as a keyed hash (action F). */
const identifier = (traits: FieldTraits) => ({
  held: "identifiers" as const,
  optional: true as const,
  setting: true as const,
  read: text(512),
  ...traits,
});

/** Changes the answer: forwarded as it is, or the request is refused (action V). */
const applied = <T, const O extends FieldTraits>(read: FieldRead<T>, traits: O) => ({
  held: "applied" as const,
  read,
  ...traits,
});

/** Has a member of its own in the request. */
const own = <const O extends FieldTraits>(traits: O) => ({ held: null, ...traits });

/** `applied` fields go upstream in this order; lists of the optional fields use it, too. */
const ROWS = {
  max_tokens: own({ place: 1 }),
  max_completion_tokens: own({ place: 2 }),
  temperature: own({ place: 3 }),
  stop: own({ place: 5 }),
  stream: own({ place: 10 }),
  reasoning_effort: own({ place: 16, setting: true }),
  tools: own({ place: 12, needs: "tools" }),
  tool_choice: own({ place: 13, beside: "tools" }),
  top_p: forwarded(decimal({ min: 0, max: 1 }, 1), { place: 4 }),
  frequency_penalty: forwarded(decimal({ min: -2, max: 2 }, 0), { place: 7 }),
  presence_penalty: forwarded(decimal({ min: -2, max: 2 }, 0), { place: 8 }),
  seed: forwarded(integer(), { place: 6 }),
  verbosity: forwarded(choice(["low", "medium", "high"], "medium"), { place: 17, setting: true }),
  parallel_tool_calls: forwarded(toggle(true), { place: 14, beside: "tools" }),
  user: identifier({ place: 20 }),
  safety_identifier: identifier({ unlisted: true }),
  prompt_cache_key: identifier({ unlisted: true }),
  stream_options: own({ place: 11, optional: true, setting: true }),
  n: own({ place: 9, optional: true, needs: "max_n" }),
  logprobs: applied(toggle(false), { place: 18, optional: true, needs: "logprobs" }),
  top_logprobs: applied(integer({ min: 0, max: 20 }), { place: 19, beside: "logprobs" }),
  logit_bias: applied(tokenBiases, { optional: true, needs: "logit_bias", unlisted: true }),
  response_format: own({ place: 15, optional: true, needs: "json_schema" }),
};

type Rows = typeof ROWS;
export type RequestField = keyof Rows;
type NamesWith<Trait> = { [N in RequestField]: Rows[N] extends Trait ? N : never }[RequestField];
/** The fields of one kind in a request, by wire name; range-checked, and absent at the documented default. */
export type FieldsHeld<Held> = {
  [N in NamesWith<{ held: Held }>]?: Rows[N] extends { read: FieldRead<infer T> } ? T : never;
};
/** A field that not all upstreams of one shape support. */
export type OptionalField = NamesWith<{ optional: true }>;

/** A field that needs a capability. */
export type AskingField = NamesWith<{ needs: Capability }>;

interface RequestFieldRow extends FieldTraits {
  /** The member of the request that holds it; null: one of its own. */
  held: "forwarded" | "identifiers" | "applied" | null;
  read?: FieldRead<unknown>;
}

export const REQUEST_FIELDS = Object.entries(ROWS) as [RequestField, RequestFieldRow][];

export const OPTIONAL_FIELDS: readonly OptionalField[] = REQUEST_FIELDS.flatMap(([name, { optional }]) =>
  optional === true ? [name as OptionalField] : [],
);

/** The field that needs each capability. */
export const ASKED_BY: ReadonlyMap<Capability, AskingField> = new Map(
  REQUEST_FIELDS.flatMap(([name, { needs }]) =>
    needs === undefined ? [] : [[needs, name as AskingField] as const],
  ),
);
