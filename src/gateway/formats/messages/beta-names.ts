// `anthropic-beta` and `anthropic-version` as the vendor's clients send them.
import type { HeaderOf } from "../format.ts";
import { refuse } from "../../../domain/read-value.ts";
import { BETA_HEADER } from "../../../providers/anthropic/betas.ts";

export const VERSION_HEADER = "anthropic-version";
const NAME = /^[a-z0-9][a-z0-9-]{0,99}$/;
const NAMES_MAX = 64;

/** The names in the header, each once; their order has no meaning. */
export function betaNames(header: HeaderOf): string[] {
  const names = (header(BETA_HEADER) ?? "").split(",").map((name) => name.trim().toLowerCase());
  const given = [...new Set(names.filter((name) => name !== ""))];
  if (given.length > NAMES_MAX || given.some((name) => !NAME.test(name)))
    throw refuse(
      "invalid_request",
      null,
      BETA_HEADER,
      `must be at most ${NAMES_MAX} names of letters, digits and \`-\`, separated by commas.`,
    );
  return given.toSorted();
}

/** Every version date is accepted; the answers are the same for all. */
export function requireVersionDate(header: HeaderOf): void {
  const version = header(VERSION_HEADER);
  if (version === null || /^\d{4}-\d{2}-\d{2}$/.test(version)) return;
  throw refuse("invalid_request", null, VERSION_HEADER, "must be a date such as 2023-06-01, or left out.");
}
