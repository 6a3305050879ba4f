// Top-level fields of the Messages shape that are refused by name: they cost or route, and no published rate covers them.
// Every other field that is not known here goes through to upstreams of the same shape.
import type { RefusalCode } from "../../../domain/refusals.ts";

interface Family {
  code: RefusalCode;
  /** The rest of the message, after the field's name. */
  text: string;
  names: string;
  /** What a client of the vendor reads to go on by itself. */
  details?: { error_code: string };
}

const FAMILIES: readonly Family[] = [
  {
    code: "unsupported_parameter",
    text: "has costs of its own that no published rate covers. Remove it.",
    names: "speed container mcp_servers",
  },
  {
    code: "unsupported_parameter",
    text: "would choose what serves you; the model and its published release do. Remove it.",
    names: "inference_geo fallbacks fallback_model user_profile_id",
  },
  {
    code: "unsupported_parameter",
    text: "is not open: the gateway says it itself. Remove it.",
    names: "anthropic_version",
  },
  {
    code: "unsupported_parameter",
    text: "is a header of this surface: send `anthropic-beta`.",
    names: "anthropic_beta betas",
  },
  {
    code: "unsupported_parameter",
    text: "asks for a conversation that is kept here, and none is. Send all of its messages, without it.",
    names: "thread",
    details: { error_code: "thread_unsupported_request" },
  },
  {
    code: "unknown_parameter",
    text: "is not a parameter here. Remove it; the model and its published release decide routing and price.",
    names: "provider models route base_url api_key gateway cost plugins",
  },
];

/** By name. */
export const REFUSED_OF_MESSAGES: ReadonlyMap<string, Omit<Family, "names">> = new Map(
  FAMILIES.flatMap(({ names, ...refused }) => names.split(/\s+/).map((name) => [name, refused] as const)),
);
