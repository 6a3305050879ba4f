// One door of the API as a fetch handler: its endpoints by their targets, refusals in the one envelope (wire.md §4).
import { Hono } from "hono";
import { ENDPOINTS } from "../../api/endpoints.ts";
import { OperatorRefusal } from "../../domain/operator-refusals.ts";
import { Refusal } from "../../domain/refusals.ts";
import { replyOperatorRefusal, replyRefusal } from "../reply.ts";
import { foldPath } from "../router.ts";
import { type Arrived, type Door, mount, type ServePorts } from "./serve.ts";

/** Serves one request; rejects only for bugs, which the front door answers with 500 and logs. */
export type ApiHandler = (request: Request, arrived: Arrived) => Promise<Response>;

/** For the log: the client closed its connection before it was answered. */
const GONE = 499;

/** `open`: public resources, by path. */
export function apiHandler(
  door: Door,
  on: ServePorts,
  open: Readonly<Record<string, () => Response | Promise<Response>>> = {},
): ApiHandler {
  const app = new Hono<{ Bindings: Arrived }>({ getPath: pathOf });
  const methods = new Map<string, string[]>();
  mount(app, { endpoints: ENDPOINTS, door, methods }, on);
  for (const [path, answer] of Object.entries(open)) {
    methods.set(door.root + path, ["GET"]);
    app.get(door.root + path, answer);
  }
  for (const [path, allowed] of methods) app.all(path, () => Promise.reject(wrongMethod(allowed)));
  const see = Object.hasOwn(open, "/openapi.json") ? ` See ${door.root}/openapi.json.` : "";
  app.notFound(({ env }) => refuse(new Refusal("unknown_url", `There is nothing at this URL.${see}`), env));
  app.onError((error, { env, req }) => {
    const { aborted, reason } = req.raw.signal;
    return aborted && error === reason ? new Response(null, { status: GONE }) : refuse(error, env);
  });
  return async (request, arrived) => seal(await app.fetch(request, arrived), arrived.requestId);
}

function pathOf(request: Request): string {
  const path = request.url.slice(request.url.indexOf("/", 8));
  return foldPath(path.split("?", 1)[0] ?? path);
}

function wrongMethod(allowed: readonly string[]): Refusal {
  const allow = allowed.join(", ");
  return new Refusal("method_not_allowed", `This URL accepts ${allow}.`, { headers: { allow } });
}

function refuse(error: unknown, { requestId }: Arrived): Response {
  if (error instanceof Refusal) return replyRefusal(requestId, error);
  if (error instanceof OperatorRefusal) return replyOperatorRefusal(requestId, error);
  throw error;
}

function seal(response: Response, requestId: string): Response {
  // A replayed completion keeps the id of the request that was paid for.
  if (!response.headers.has("x-request-id")) response.headers.set("x-request-id", requestId);
  response.headers.set("x-content-type-options", "nosniff");
  response.headers.set("referrer-policy", "no-referrer");
  return response;
}
