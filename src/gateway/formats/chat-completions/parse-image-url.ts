// Which image URLs a message may carry (wire.md §1.2): inline data, or `https:` on a public host name. Tollgate never fetches them
// itself; the rule keeps callers from pointing a provider at an internal network.
import { isInlineImage } from "../../../domain/chat-request.ts";
import { invalid, type Place } from "../../../domain/read-value.ts";

const DATA_IMAGE = /^data:image\/[\w.+-]+(?:;[\w.=+-]+)*;base64,[\w+/=-]/i;
/** The media type is at the start; the rest of an inline image may be megabytes. */
const HEAD_LENGTH = 256;
/** Last labels of names that do not exist on the public internet. */
const PRIVATE_ENDINGS = new Set([
  ..."localhost local internal intranet private corp home lan localdomain".split(" "),
  ..."arpa onion test invalid example alt".split(" "),
]);

/** Throws `invalid_request` at `step` of the place unless the URL is of an accepted form. */
export function requireImageUrl(url: string, at: Place, step = "url"): void {
  if (isInlineImage(url)) {
    if (DATA_IMAGE.test(url.slice(0, HEAD_LENGTH))) return;
    throw invalid(at, step, "must be an image as `data:image/<type>;base64,<bytes>`.");
  }
  if (isPublicHttpsUrl(url)) return;
  throw invalid(
    at,
    step,
    "must be inline `data:image/…;base64,…`, or `https:` with a public host name and no port.",
  );
}

function isPublicHttpsUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.protocol !== "https:") return false;
  if (url.port !== "" || url.username !== "" || url.password !== "") return false;
  return isPublicHostName(url.hostname.replace(/\.$/, ""));
}

/** The URL parser has already normalized every spelling of an IPv4 address to dotted digits, and lower-cased names. */
function isPublicHostName(host: string): boolean {
  const labels = host.split(".");
  const last = labels.at(-1) ?? "";
  if (labels.length < 2 || labels.includes("")) return false;
  return /^(?:[a-z]{2,}|xn--[a-z0-9-]+)$/.test(last) && !PRIVATE_ENDINGS.has(last);
}
