// The token of a one-time link is in the fragment of the address, so that it reaches no log.
import { useSyncExternalStore } from "react";

/**
 * The last token, kept while the tab lives: after signing in on the way the address no longer has it, because no
 * address may carry it there.
 */
let last: { page: string; token: string } | null = null;

/** The token of the link in the address, or of the last one there; null without one. */
export const useLinkToken = (): string | null => useSyncExternalStore(watchFragment, tokenNow);

function tokenNow(): string | null {
  const { pathname: page, hash } = location;
  const token = new URLSearchParams(hash.slice(1)).get("token");
  if (token !== null && token !== last?.token) last = { page, token };
  return token ?? (last?.page === page ? last.token : null);
}

function watchFragment(watcher: () => void): () => void {
  addEventListener("hashchange", watcher);
  return () => removeEventListener("hashchange", watcher);
}
