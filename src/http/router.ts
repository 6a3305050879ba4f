// The table of routes. Every route declares its door; what is not declared does not exist (S8). Nothing is protected by a path
// prefix, because the parser below us resolves `..` before we see a path (hardening.md §1).
import { Refusal } from "../domain/refusals.ts";
import type { Handler } from "./context.ts";
import type { ErrorFormat } from "./reply.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
/** Who is admitted: anybody, an inference key, a management key, loopback or a management key, a signed-in person. */
type Door = "public" | "inference" | "management" | "loopback" | "session";

export interface Route {
  /** An exact path, or one with a trailing `*`. */
  path: string;
  methods: readonly Method[];
  /** The check that the handler makes itself; `test/api/doors.test.ts` calls each without a credential. */
  door: Door;
  /** The form of its refusals; defaults to that of chat completions. */
  format?: ErrorFormat;
  /** The surface in metrics. */
  surface?: string;
  /** A page of the dashboard: a browser gets refusals as a page, too. */
  page?: true;
  handler: Handler;
}

/** `rest` is what matched the pattern's `*`, "" for an exact path. */
export interface Found {
  route: Route;
  rest: string;
}

/** Exact paths take precedence over patterns; of several matching patterns, the first one with the method is used. */
export class Router {
  private readonly exact = new Map<string, Found[]>();
  private readonly prefixes: Route[] = [];

  constructor(
    readonly routes: readonly Route[],
    /** The base URL of `/v1`; read only once the port is open. */
    private readonly baseUrl: () => string,
  ) {
    for (const route of routes) {
      if (route.path.endsWith("*")) this.prefixes.push(route);
      else this.exact.set(route.path, [...(this.exact.get(route.path) ?? []), { route, rest: "" }]);
    }
  }

  /** Returns the route, or throws 404 `unknown_url` or 405 `method_not_allowed`. `path` is folded. */
  find(path: string, method: string): Found {
    const candidates = this.at(path);
    if (candidates.length === 0) throw this.unknownUrl(path);
    const wanted = method === "HEAD" ? "GET" : method;
    for (const found of candidates)
      if ((found.route.methods as readonly string[]).includes(wanted)) return found;
    const allow = this.allowed(path).join(", ");
    throw new Refusal("method_not_allowed", `This URL accepts ${allow}, not ${method.slice(0, 16)}.`, {
      headers: { allow },
    });
  }

  /**
   * The form in which a path without a route is refused: that of the surface at it or above it, else that of the surface whose
   * clients are recognized by a header; undefined if there is none.
   */
  formatAt(path: string, headers: Headers): ErrorFormat | undefined {
    const formats = this.routes.flatMap(({ path: root, format }) =>
      format === undefined ? [] : [{ root, format }],
    );
    const at = formats.find(({ root }) => path === root || path.startsWith(`${root}/`));
    const theirs = ({ format: { clientHeader } }: (typeof formats)[number]): boolean =>
      clientHeader !== undefined && headers.has(clientHeader);
    return (at ?? formats.find(theirs))?.format;
  }

  /** Whether a browser that finds nothing there is shown a page: everywhere except below `/v1`, which programs call. */
  isPageAt(path: string, headers: Headers): boolean {
    return path !== API && !path.startsWith(`${API}/`) && this.formatAt(path, headers) === undefined;
  }

  /** The methods of a path, HEAD and OPTIONS included; empty if there is no such path. */
  allowed(path: string): string[] {
    const methods = this.at(path).flatMap(({ route }) => route.methods);
    if (methods.length === 0) return [];
    return [...new Set([...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"])];
  }

  private at(path: string): readonly Found[] {
    const exact = this.exact.get(path);
    return exact ?? this.below(path);
  }

  private below(path: string): readonly Found[] {
    return this.prefixes.flatMap((route) => {
      const prefix = route.path.slice(0, -1);
      const rest =
        path.startsWith(prefix) && path.length > prefix.length ? decodeOnce(path.slice(prefix.length)) : null;
      return rest === null ? [] : [{ route, rest }];
    });
  }

  private unknownUrl(path: string): Refusal {
    const [, wanted = ""] = path.startsWith(`${CHAT}/`) ? [] : (ELSEWHERE.exec(path) ?? []);
    const hint = wanted === "" ? this.whatThereIs(path) : this.hintFor(wanted.split("/")[0] ?? "");
    return new Refusal("unknown_url", `There is nothing at this URL.${hint}`);
  }

  private whatThereIs(path: string): string {
    if (path.startsWith(`${CHAT}/`)) return NOT_STORED;
    if (path !== API && !path.startsWith(`${API}/`)) return ` The base URL of this API is ${this.baseUrl()}.`;
    const surfaces = this.routes.filter(({ surface }) => surface !== undefined);
    const names = surfaces.map(({ path: at }) => at.slice(API.length + 1)).join(", ");
    return ` Under ${this.baseUrl()} there are ${names} and models.`;
  }

  private hintFor(wanted: string): string {
    const chat = `POST ${this.baseUrl()}/chat/completions`;
    if (wanted === "embeddings")
      return ` Embeddings are at POST ${this.baseUrl()}/embeddings, and text answers at ${chat}.`;
    if (wanted === "messages") return ` The Messages API is served at POST ${this.baseUrl()}/messages.`;
    if (wanted === "responses") return ` The Responses API is served at POST ${this.baseUrl()}/responses.`;
    return ` Use chat completions: ${chat}.`;
  }
}

const API = "/v1";
const CHAT = `${API}/chat/completions`;
const NOT_STORED =
  " Chat completions are not stored and cannot be fetched by id. GET /v1/generation?id= shows what became of a request.";

/** Paths that clients of other surfaces call, with or without the version in front. */
const ELSEWHERE =
  /\/(responses|messages(?:\/count_tokens|\/batches)?|embeddings|completions|engines|complete)$/;

/** Decodes one level of percent-encoding; null for a bad escape or a NUL. */
function decodeOnce(text: string): string | null {
  try {
    const decoded = decodeURIComponent(text);
    return decoded.includes("\0") ? null : decoded;
  } catch {
    return null;
  }
}

/** Folds repeated slashes and one trailing slash, without a redirect (redirects drop bodies and keys). */
export function foldPath(path: string): string {
  if (!path.includes("//") && (path.length === 1 || !path.endsWith("/"))) return path;
  const folded = path.replace(/\/{2,}/g, "/");
  return folded.length > 1 && folded.endsWith("/") ? folded.slice(0, -1) : folded;
}
