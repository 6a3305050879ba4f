// A bearer token of a token endpoint (RFC 6749 §3.2), kept, renewed before it ends, and asked for once however many calls wait.
// A token that cannot be had is proof that nothing was sent (money.md §2).
import type { Authorize } from "../codec.ts";
import { Failure, type FailureCause } from "../failure.ts";
import { readBounded } from "../http/call.ts";
import { isObject, readJson } from "../http/json.ts";
import { fitToShow } from "../http/words.ts";

const ANSWER_BYTES_MAX = 64 * 1024;
/** A renewal in all, its answer included. */
const RENEWAL_MS = 10_000;
/** Whatever it says: a token is asked for again after this time. */
const LIFE_MAX_MS = 12 * 3_600_000;
/** From here on it is renewed beside the calls that still go out with it. */
const EARLY_MS = 5 * 60_000;
/** From here on no call goes out with it: clocks and the way there take time. */
const LATE_MS = 10_000;
/** A renewal that failed is not tried again before: the calls of this time share its failure. */
const AGAIN_MS = 1000;
/** A token that was refused is given up, unless it is this young: then it is not the token. */
const YOUNG_MS = 60_000;

interface Token {
  value: string;
  /** Monotonic, as all times here: clocks are set. */
  bornMs: number;
  renewMs: number;
  endMs: number;
}

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** Proof of who we are goes there: never in the clear, but to this machine itself. */
export function isTokenUri(value: string): boolean {
  const url = URL.parse(value);
  if (url === null || url.username !== "" || url.password !== "") return false;
  return url.protocol === "https:" || (url.protocol === "http:" && LOOPBACK.has(url.hostname));
}

/** What is asked, and what of it no record may quote. */
export interface TokenQuestion {
  url: string;
  form: Record<string, string>;
  secrets: readonly string[];
}

export class OAuthToken {
  private token: Token | null = null;
  private renewing: Promise<Token> | null = null;
  private failed: { failure: Failure; againMs: number } | null = null;

  constructor(
    private readonly question: () => TokenQuestion | Promise<TokenQuestion>,
    private readonly renewalMs = RENEWAL_MS,
  ) {}

  /** The headers that prove a call; a promise only where a token has to be waited for. Throws `Failure`, nothing was sent. */
  authorize(): Record<string, string> | Promise<Record<string, string>> {
    const { token } = this;
    const nowMs = performance.now();
    if (token === null || nowMs >= token.endMs) return this.renewed().then(headersOf);
    if (nowMs >= token.renewMs && this.renewing === null && !this.failedLately(nowMs))
      void this.renewed().catch(() => {}); // this call needs none, and who does is told
    return headersOf(token);
  }

  /** The provider did not take it: the next call asks for another. */
  refused(): void {
    if (this.token !== null && performance.now() - this.token.bornMs >= YOUNG_MS) this.token = null;
  }

  /** As a codec takes it. */
  proof(): Authorize {
    return Object.assign(() => this.authorize(), { refused: () => this.refused() });
  }

  private failedLately(nowMs: number): boolean {
    return this.failed !== null && nowMs < this.failed.againMs;
  }

  private async renewed(): Promise<Token> {
    if (this.renewing === null && this.failed !== null && this.failedLately(performance.now()))
      throw this.failed.failure;
    this.renewing ??= this.renew().finally(() => {
      this.renewing = null;
    });
    return await this.renewing;
  }

  private async renew(): Promise<Token> {
    try {
      this.token = await fetchToken(await this.question(), this.renewalMs);
      this.failed = null;
      return this.token;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      this.failed = { failure: error, againMs: performance.now() + AGAIN_MS };
      throw error;
    }
  }
}

const headersOf = ({ value }: Token): Record<string, string> => ({ authorization: `Bearer ${value}` });

async function fetchToken(question: TokenQuestion, withinMs: number): Promise<Token> {
  const askedMs = performance.now();
  const { status, text } = await ask(question, withinMs);
  if (status !== 200) throw refusal(status, text, question.secrets);
  return tokenOf(readJson(text), askedMs);
}

/** One request, bounded in time and bytes, to the configured host alone. */
async function ask({ url, form }: TokenQuestion, ms: number): Promise<{ status: number; text: string }> {
  const signal = AbortSignal.timeout(ms);
  const late = (): Failure | null =>
    signal.aborted ? unavailable(`gave no token within ${ms} ms`, "connect_timeout") : null;
  try {
    const reply = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/x-www-form-urlencoded",
        accept: "application/json",
        "accept-encoding": "identity",
        "user-agent": "tollgate",
      },
      body: new URLSearchParams(form).toString(),
      redirect: "manual",
      proxy: false,
      timeout: false, // the signal decides
      signal,
    });
    const timeouts = { reason: null };
    return { status: reply.status, text: await readBounded(reply, { bytesMax: ANSWER_BYTES_MAX, timeouts }) };
  } catch (error) {
    if (error instanceof Failure) throw late() ?? unavailable(`broke off: ${error.message}`);
    const code = error instanceof Error && "code" in error ? String(error.code) : "no code";
    throw late() ?? unavailable(`did not answer (${code})`, "connect");
  }
}

const unavailable = (what: string, reason: FailureCause = "unavailable"): Failure =>
  new Failure(reason, "no", `the token server ${what}`);

/** What it refused with: 400 and 401 are about our account there, whose words are kept without what was sent. */
function refusal(status: number, text: string, secrets: readonly string[]): Failure {
  const body = readJson(text);
  const { error, error_description: description } = isObject(body) ? body : {};
  const word = typeof error === "string" ? (/^[\w.-]{1,64}/.exec(error)?.[0] ?? "no code") : "no code";
  const said = [error, description].filter((one) => typeof one === "string").join(": ");
  const words = fitToShow(said, secrets);
  return new Failure(causeOf(status), "no", `the token server answered ${status} (${word})`, {
    ...(words !== null && { words }),
  });
}

function causeOf(status: number): FailureCause {
  if (status === 429) return "rate_limited";
  return status >= 400 && status < 500 && status !== 408 ? "account" : "unavailable";
}

function tokenOf(body: unknown, askedMs: number): Token {
  const { access_token: value, expires_in: seconds, token_type: type } = isObject(body) ? body : {};
  // It becomes a header: printable, and no longer than one.
  if (typeof value !== "string" || !/^[\x21-\x7e]{1,8192}$/.test(value) || !/^bearer$/i.test(String(type)))
    throw unavailable("answered without a token");
  if (typeof seconds !== "number" || !(seconds > 0))
    throw unavailable("answered with a token that has ended");
  const lifeMs = Math.min(seconds * 1000, LIFE_MAX_MS);
  const endMs = askedMs + lifeMs - Math.min(LATE_MS, lifeMs / 10);
  const renewMs = askedMs + lifeMs - Math.min(EARLY_MS, lifeMs / 4);
  return { value, bornMs: askedMs, renewMs, endMs };
}
