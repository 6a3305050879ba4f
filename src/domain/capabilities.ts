// What a release may offer beyond plain text (interfaces.md §4), one row each: what a manifest may say, what `/v1/models`
// shows and what a request is refused for (wire.md §1.1) derive from this table. Which field asks for a capability is said at
// the field, in `request-fields.ts`.
import type { RefusalCode } from "./refusals.ts";

/** What becomes of a request that asks for more than is offered. */
interface NotOffered {
  code: RefusalCode;
  /** The message after the field's name. `withModel`: "with model `m`"; `most`: how much is offered. */
  text(withModel: string, most: number): string;
}

const REMOVE: NotOffered = {
  code: "unsupported_parameter",
  text: (withModel) => `is not available ${withModel}. Remove the field.`,
};

/** Offered or not. */
const flag = (notOffered: NotOffered = REMOVE) => ({ least: false as boolean, max: null, notOffered });
/** Offered up to a number, 1 for everybody; no release may say more than `max`. */
const count = (max: number, notOffered: NotOffered) => ({ least: 1 as number, max, notOffered });

/** In this order a request that asks for several of them is refused; a new one comes last. */
const ROWS = {
  tools: flag({
    code: "unsupported_value",
    text: (withModel) => `are not available ${withModel}. Remove the field.`,
  }),
  /** No field of its own: refused at the part of a message that is one (`releases/fit.ts`). */
  images: flag(),
  json_schema: flag({
    code: "unsupported_value",
    text: (withModel) => `can only be {"type": "text"} ${withModel}.`,
  }),
  max_n: count(128, {
    code: "unsupported_value",
    text: (withModel, most) => `can be at most ${most} ${withModel}.`,
  }),
  logprobs: flag(),
  logit_bias: flag({
    code: "raw_token_ids_not_allowed",
    text: (withModel) => `works on token ids, which are not accepted ${withModel}.`,
  }),
  /** PDFs; as `images`. */
  files: flag(),
  /** Vectors, and nothing else: no field asks for it, its surface does (`releases/fit.ts`). */
  embeddings: flag(),
};

export type Capability = keyof typeof ROWS;
/** What one release offers. */
export type Capabilities = { [C in Capability]: (typeof ROWS)[C]["least"] };

interface CapabilityRow {
  /** What every release offers. */
  least: boolean | number;
  /** Upper end of a number; null for what is offered or not. */
  max: number | null;
  notOffered: NotOffered;
}

export const CAPABILITIES = Object.entries(ROWS) as [Capability, CapabilityRow][];

/** As manifests and `/v1/models` show them: what is offered or not, then the numbers. */
export const PUBLISHED_CAPABILITIES = CAPABILITIES.toSorted(
  ([, a], [, b]) => Number(a.max !== null) - Number(b.max !== null),
);

/** What a release offers that publishes nothing. */
export const NO_CAPABILITIES = Object.freeze(
  Object.fromEntries(PUBLISHED_CAPABILITIES.map(([name, { least }]) => [name, least])),
) as Readonly<Capabilities>;
