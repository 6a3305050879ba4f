// The token of a one-time link stands in the fragment of the address, so that it reaches no log.
import { useSyncExternalStore } from "react";

/** The last one, while the tab lives: who signs in on the way comes back without it, as no address may carry it there. */
let last: { page: string; token: string } | null = null;

/** The token of the link that stands in the address, or last stood there; null without one. */
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
