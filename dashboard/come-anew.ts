// A page one of whose files does not come is most likely of another version than the gateway that answers: older than an update, or,
// of several gateways, of another one in the middle of it. Asked for anew it is of whoever answers then.

const KEY = "tollgate.anew";
/** So often within so long, each time after twice the time before. */
const AT_MOST = 4;
const WITHIN_MS = 60_000;
const FIRST_AFTER_MS = 250;

/** Asks for the page anew in a moment; false where that was tried often enough, and did not help. */
export function comeAnew(): boolean {
  const nowMs = Date.now();
  const triedMs = (sessionStorage.getItem(KEY) ?? "").split(",").map(Number);
  const recent = triedMs.filter((atMs) => Math.abs(nowMs - atMs) < WITHIN_MS);
  if (recent.length >= AT_MOST) return false;
  sessionStorage.setItem(KEY, [...recent, nowMs].join());
  setTimeout(() => location.reload(), FIRST_AFTER_MS * 2 ** recent.length);
  return true;
}
