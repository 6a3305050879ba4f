// A bearer token from a token endpoint (RFC 6749 §3.2).
import { isJsonObject } from "../../domain/read-value.ts";
import type { Authorize } from "../codec.ts";
import { readJson } from "../http/json.ts";
import { askLender, type Lender, lender, refusedBy, RENEWAL_MS, unavailable } from "./ask.ts";
import { type Lent, Renewed } from "./renewed.ts";

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * True if our proof of identity may be sent there: never in the clear, except to this machine itself and to `trusted`
 * hosts.
 */
export function isTokenUri(value: string, trusted: readonly string[] = []): boolean {
  const url = URL.parse(value);
  if (url === null || url.username !== "" || url.password !== "") return false;
  if (url.protocol === "https:") return true;
  return url.protocol === "http:" && (LOOPBACK.has(url.hostname) || trusted.includes(url.hostname));
}

/** The request for a token, and the parts of it that no record may quote. */
export interface TokenQuestion {
  url: string;
  form: Record<string, string>;
  secrets: readonly string[];
}

/** `question` is built anew for each token, since claims expire too. `renewalMs` is the timeout for a token. */
export class OAuthToken {
  private readonly bearer: Renewed<Record<string, string>>;

  constructor(question: () => TokenQuestion | Promise<TokenQuestion>, renewalMs = RENEWAL_MS) {
    this.bearer = new Renewed(async () => await fetchToken(await question(), renewalMs));
  }

  /**
   * Returns the headers that authenticate a call; a promise only if a token must be awaited. Throws `Failure`;
   * nothing was sent then.
   */
  authorize(): Record<string, string> | Promise<Record<string, string>> {
    return this.bearer.current();
  }

  /** The provider rejected the token: the next call requests a new one. */
  refused(): void {
    this.bearer.refused();
  }

  /** Returns this token in the form that a codec takes. */
  proof(): Authorize {
    return Object.assign(() => this.authorize(), { refused: () => this.refused() });
  }
}

async function fetchToken(
  { url, form, secrets }: TokenQuestion,
  withinMs: number,
): Promise<Lent<Record<string, string>>> {
  const server = lender("the token server", withinMs);
  const { status, text } = await askLender(server, url, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
    body: new URLSearchParams(form).toString(),
  });
  const body = readJson(text);
  if (status === 200) return tokenOf(body, server);
  const { error, error_description: said } = isJsonObject(body) ? body : {};
  throw refusedBy(server, { status, code: error, said }, secrets);
}

function tokenOf(body: unknown, server: Lender): Lent<Record<string, string>> {
  const { access_token: value, expires_in: seconds, token_type: type } = isJsonObject(body) ? body : {};
  // It becomes a header, so it must be printable and of bounded length.
  if (typeof value !== "string" || !/^[\x21-\x7e]{1,8192}$/.test(value) || !/^bearer$/i.test(String(type)))
    throw unavailable(server, "answered without a token");
  if (typeof seconds !== "number" || !(seconds > 0))
    throw unavailable(server, "answered with an expired token");
  return { value: { authorization: `Bearer ${value}` }, lifeMs: seconds * 1000 };
}
