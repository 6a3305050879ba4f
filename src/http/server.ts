// The HTTP server, and the only caller of Bun.serve. Every response carries `x-request-id`, except those that Bun's parser
// sends before we see the request (hardening.md §1).
import { Refusal } from "../domain/refusals.ts";
import type { Clock } from "../lib/clock.ts";
import { newRequestId } from "../lib/id.ts";
import { listenFailure, tryPort } from "../lib/listen-failure.ts";
import { nextTurn } from "../lib/turn.ts";
import type { AccessLog } from "./access-log.ts";
import type { ClientAddress } from "./client-address.ts";
import type { HttpContext } from "./context.ts";
import type { Cors } from "./cors.ts";
import { bodyPassed, isChunked } from "./linger.ts";
import { refusalPage, wantsPage } from "./plain-page.ts";
import { refusalFrom, replyRefusal } from "./reply.ts";
import { foldPath, type Route, type Router } from "./router.ts";
import { Turnstile } from "./turnstile.ts";

export interface ServerOptions {
  host: string;
  port: number;
  /**
   * Set if several processes listen on the port, between which the kernel distributes connections. The first one makes
   * sure that no other gateway is among them.
   */
  share: "first" | "other" | null;
  router: Router;
  cors: Cors;
  clock: Clock;
  access: AccessLog;
  clients: ClientAddress;
  /** Deadline for a complete header block, and the default for everything a handler does. */
  headerTimeoutMs: number;
  /** How long a connection may be idle after a response. */
  keepAliveMs: number;
  /** Bun's limit, above the product's own, which is refused readably (hardening.md §1). */
  maxBodyBytes: number;
  /** Receives the errors of bugs, for the log. */
  failed(error: unknown, requestId: string): void;
  /** Receives the code of each refusal thrown by a handler. */
  refused(code: string): void;
}

export interface Listening {
  port: number;
  /** Stops accepting; `drain` resolves when open responses have ended, `cut` ends them. */
  stop(how: "drain" | "cut"): Promise<void>;
}

/** Statuses from here on are refusals. */
const REFUSED_FROM = 400;
const ABSOLUTE = /^https?:\/\//;
const PLAIN_HOST = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/;

/** Throws `ListenFailure` if the port cannot be opened. */
export function listen(options: ServerOptions): Listening {
  const server = open(options);
  return {
    port: server.port ?? options.port,
    stop: async (how) => {
      await server.stop(how === "cut");
    },
  };
}

type BunServer = Bun.Server<undefined>;

/** Bun counts idle time in seconds. */
const secondsOf = (ms: number): number => Math.ceil(ms / 1000);

function open(options: ServerOptions): BunServer {
  const { host: hostname, port, share } = options;
  const turnstile = new Turnstile();
  try {
    if (share === "first" && port !== 0) tryPort({ host: hostname, port });
    return Bun.serve({
      hostname,
      port,
      reusePort: share !== null,
      idleTimeout: secondsOf(options.headerTimeoutMs),
      maxRequestBodySize: options.maxBodyBytes,
      fetch: (request, bun) => serve(options, new Arrived(options, request, bun), turnstile.pass()),
      error: () => replyRefusal(newRequestId(options.clock.nowMs()), refusalFrom(null)),
    });
  } catch (error) {
    throw listenFailure(error, { host: hostname, port });
  }
}

/** `turn`: resolves when the request may be handled; null if at once. */
async function serve(
  options: ServerOptions,
  arrived: Arrived,
  turn: Promise<void> | null,
): Promise<Response> {
  const { request } = arrived;
  const chunked = isChunked(request);
  let response: Response;
  try {
    if (turn !== null) await turn;
    if (chunked) await nextTurn(); // the chunks that have arrived by then are read as one piece
    response = await route(options, arrived);
  } catch (error) {
    if (!(error instanceof Refusal)) options.failed(error, arrived.requestId);
    const refusal = refusalFrom(error);
    options.refused(refusal.code);
    response = refused(options, arrived, refusal);
  }
  options.cors.expose(request, response);
  options.access.note(response, arrived, arrived.route?.surface ?? null);
  if (!arrived.goesOn) arrived.keepAlive();
  if ((response.status >= REFUSED_FROM || chunked) && !(await bodyPassed(request, chunked)))
    response.headers.set("connection", "close");
  return response;
}

/** Formats a refusal for its client: in a surface's envelope, or as a page for a browser outside the API. */
function refused({ router }: ServerOptions, arrived: Arrived, refusal: Refusal): Response {
  const { route: found, path, request, requestId } = arrived;
  const isPage =
    found === null
      ? refusal.code === "unknown_url" && router.isPageAt(path, request.headers)
      : found.page === true;
  if (isPage && wantsPage(request)) return refusalPage(requestId, refusal);
  const format = found === null ? router.formatAt(path, request.headers) : found.format;
  return replyRefusal(requestId, refusal, format && { format });
}

/** A request, as its handler and the log see it. Rarely used members are computed on demand. */
class Arrived implements HttpContext {
  readonly requestId: string;
  readonly receivedAtMs: number;
  /** Monotonic time of arrival. */
  readonly arrivedMs: number;
  path = "";
  rest = "";
  /** Undecoded. */
  search = "";
  org: string | null = null;
  /** Null until it is found. */
  route: Pick<Route, "format" | "surface" | "page"> | null = null;
  /** True if the response is still being sent after its handler returned, with its own idle timeout. */
  goesOn = false;
  /** The peer's address, once read. */
  private seen: string | null = null;

  constructor(
    private readonly options: ServerOptions,
    readonly request: Request,
    private readonly bun: BunServer,
  ) {
    this.receivedAtMs = options.clock.nowMs();
    this.requestId = newRequestId(this.receivedAtMs);
    this.arrivedMs = options.clock.monotonicMs();
    // Not available once the client has disconnected.
    this.seen = options.access.on ? this.peer : null;
  }

  get query(): URLSearchParams {
    return new URLSearchParams(this.search);
  }

  get peer(): string | null {
    return (this.seen ??= this.bun.requestIP(this.request)?.address ?? null);
  }

  get address(): string | null {
    return this.options.clients.of(this.peer, this.request.headers.get("x-forwarded-for"));
  }

  readonly setIdleTimeout = (seconds: number): void => this.bun.timeout(this.request, seconds);

  readonly sending = (seconds: number): (() => void) => {
    this.goesOn = true;
    this.setIdleTimeout(seconds);
    return () => this.keepAlive();
  };

  /** Resets the idle timeout after a response, because a handler's would stay on the connection (wire.md §6). */
  keepAlive(): void {
    this.setIdleTimeout(secondsOf(this.options.keepAliveMs));
  }
}

function route({ router, cors }: ServerOptions, arrived: Arrived): Response | Promise<Response> {
  const { request, requestId } = arrived;
  const { path, query } = targetOf(request);
  if (request.method === "OPTIONS") {
    const allowed = router.allowed(path);
    // An allowed origin passes for unknown paths, too: it could not read the 404 after a refused preflight.
    if (allowed.length > 0 || cors.isPreflight(request))
      return cors.preflight(request, { requestId, allowed });
  }
  arrived.path = path;
  const { route, rest } = router.find(path, request.method);
  arrived.route = route;
  arrived.rest = rest;
  arrived.search = query;
  return route.handler(arrived);
}

/** Returns path and query of the target. With an invalid or missing Host the target is not an absolute URL, which is refused. */
function targetOf(request: Request): { path: string; query: string } {
  const { url } = request;
  const host = request.headers.get("host");
  if (host === null || !PLAIN_HOST.test(host) || !ABSOLUTE.test(url)) {
    if (request.method === "CONNECT")
      throw new Refusal(
        "method_not_allowed",
        "This gateway is not a proxy. Send the path alone in the request line.",
        {
          headers: { allow: "GET, POST" },
        },
      );
    throw new Refusal("invalid_request", "Send one Host header with a plain host name.", { param: "Host" });
  }
  const start = url.indexOf("/", 8);
  const mark = url.indexOf("?", start);
  // None of our texts contains NUL, and PostgreSQL cannot store it. Paths with it match no route.
  if (mark !== -1 && url.includes("%00", mark))
    throw new Refusal("invalid_request", "The query contains a NUL character (%00). Remove it.");
  const end = mark === -1 ? url.length : mark;
  return {
    path: start === -1 ? "/" : foldPath(url.slice(start, end)),
    query: mark === -1 ? "" : url.slice(mark + 1),
  };
}
