// The token of a one-time link stands in the fragment of the address, so that it reaches no log.
import { useState } from "react";

/** The token that the page was opened with; null without one. */
export function useLinkToken(): string | null {
  const [token] = useState(() => new URLSearchParams(location.hash.slice(1)).get("token"));
  return token;
}
