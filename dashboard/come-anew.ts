// If a file of a page cannot be loaded, the page is most likely of another version than the gateway that answers: it
// is older than an update, or in the middle of an update it came from another of several gateways. Reloading gets the
// version of the gateway that answers then.

const KEY = "tollgate.anew";
/** At most this many reloads within this time, each after twice the previous delay. */
const AT_MOST = 4;
const WITHIN_MS = 60_000;
const FIRST_AFTER_MS = 250;

/** Reloads the page in a moment; returns false if enough reloads were tried without success. */
export function comeAnew(): boolean {
  const nowMs = Date.now();
  const triedMs = (sessionStorage.getItem(KEY) ?? "").split(",").map(Number);
  const recent = triedMs.filter((atMs) => Math.abs(nowMs - atMs) < WITHIN_MS);
  if (recent.length >= AT_MOST) return false;
  sessionStorage.setItem(KEY, [...recent, nowMs].join());
  setTimeout(() => location.reload(), FIRST_AFTER_MS * 2 ** recent.length);
  return true;
}
