// What a release may offer beyond plain text (interfaces.md §4), one row each. What a manifest may say, what `/v1/models` shows and
// what a request is refused for (wire.md §1.1) are derived from this table. The field that asks for a capability is given at the
// field, in `request-fields.ts`.
import type { RefusalCode } from "./refusals.ts";

/** How a request is refused that asks for more than is offered. */
interface NotOffered {
  code: RefusalCode;
  /** The message after the field's name. `withModel`: "with model `m`"; `most`: how much is offered. */
  text(withModel: string, most: number): string;
}

const REMOVE: NotOffered = {
  code: "unsupported_parameter",
  text: (withModel) => `is not available ${withModel}. Remove the field.`,
};

/** A capability that is either offered or not. */
const flag = (notOffered: NotOffered = REMOVE) => ({ least: false as boolean, max: null, notOffered });
/** A capability offered up to a number. Every release offers 1; no release may offer more than `max`. */
const count = (max: number, notOffered: NotOffered) => ({ least: 1 as number, max, notOffered });

/** A request that asks for several of them is refused in this order; add new ones at the end. */
const ROWS = {
  tools: flag({
    code: "unsupported_value",
    text: (withModel) => `are not available ${withModel}. Remove the field.`,
  }),
  /** Has no field of its own: refused at the message part that is an image (`releases/fit.ts`). */
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
  /** PDFs; refused as `images` are. */
  files: flag(),
  /** Vectors, and nothing else: requested by the surface, not by a field (`releases/fit.ts`). */
  embeddings: flag(),
};

export type Capability = keyof typeof ROWS;
/** What one release offers. */
export type Capabilities = { [C in Capability]: (typeof ROWS)[C]["least"] };

interface CapabilityRow {
  /** What every release offers. */
  least: boolean | number;
  /** The maximum of a number; null for a capability that is either offered or not. */
  max: number | null;
  notOffered: NotOffered;
}

export const CAPABILITIES = Object.entries(ROWS) as [Capability, CapabilityRow][];

/** In the order of manifests and `/v1/models`: flags, then numbers. */
export const PUBLISHED_CAPABILITIES = CAPABILITIES.toSorted(
  ([, a], [, b]) => Number(a.max !== null) - Number(b.max !== null),
);

/** What a release offers that publishes no capabilities. */
export const NO_CAPABILITIES = Object.freeze(
  Object.fromEntries(PUBLISHED_CAPABILITIES.map(([name, { least }]) => [name, least])),
) as Readonly<Capabilities>;
