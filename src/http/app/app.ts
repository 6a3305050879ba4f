// `/app/v1` as one fetch handler: the contract's table of routes, each admitted, read and answered in one way. A route
// without a handler answers `not_configured`.
import { type Context, Hono } from "hono";
import { OperatorRefusal } from "../../contract/admin-refusals.ts";
import { APP_ROOT, type AppRoute, appRoutes } from "../../contract/app.ts";
import type { RouteShape } from "../../contract/app/route.ts";
import type { People } from "../../contract/people.ts";
import { parseJson } from "../../contract/parse-json.ts";
import { Refusal } from "../../contract/refusals.ts";
import { readJsonBody } from "../body.ts";
import { readFields } from "../read-fields.ts";
import { replyOperatorRefusal, replyRefusal } from "../reply.ts";
import { foldPath } from "../router.ts";
import { admit, type AdmitPorts } from "./admit.ts";
import { type Call, type Handler, type Handlers, notFound } from "./call.ts";
import { checkOrigin } from "./origin.ts";
import { once, REPLAYED } from "../remember.ts";

const ID = /^[A-Za-z0-9_.:-]{1,100}$/;
const BODY_BYTES = 256 * 1024;

export interface AppPorts extends AdmitPorts {
  handlers: Partial<Handlers>;
  /** Whose pages may send changes. */
  origins: readonly string[];
  /** Of the playground, whose bodies are requests of `/v1`. */
  completionBytes: number;
  people: AdmitPorts["people"] & Pick<People, "answers">;
}

export type Exchange = Pick<Call, "visitor" | "requestId" | "receivedAtMs" | "setIdleTimeout">;
type Bindings = { Bindings: Exchange };
/** Serves one request; rejects only for bugs, which the front door answers with 500 and logs. */
export type AppHandler = (request: Request, exchange: Exchange) => Promise<Response>;

export function createApp(on: AppPorts): AppHandler {
  const app = new Hono<Bindings>({ getPath: pathOf });
  const methods = new Map<string, string[]>();
  for (const [name, shape] of appRoutes()) {
    const [method = "", path = ""] = name.split(" ");
    const pattern = APP_ROOT + path.replace(/\{(\w+)\}/g, ":$1");
    methods.set(pattern, [...(methods.get(pattern) ?? []), method]);
    app.on(method, pattern, (context) => perform({ name, shape, context }, on));
  }
  for (const [pattern, allowed] of methods)
    app.all(pattern, () => Promise.reject(wrongMethod(allowed.join(", "))));
  app.notFound((context) => refuse(new Refusal("unknown_url", "There is nothing at this URL."), context));
  app.onError(refuse);
  return async (request, exchange) => seal(await app.fetch(request, exchange), exchange.requestId);
}

interface Arrived {
  name: AppRoute;
  shape: RouteShape;
  context: Context<Bindings>;
}

async function perform({ name, shape, context }: Arrived, on: AppPorts): Promise<Response> {
  const { raw: request } = context.req;
  const { visitor } = context.env;
  const changes = shape.body !== null;
  checkOrigin(request, on.origins);
  const params = context.req.param();
  const who = await admit(on, { may: shape.may, organizationId: params["org"] ?? null, changes, visitor });
  for (const [param, id] of Object.entries(params)) if (!ID.test(id)) throw notFound(param);
  const handler = on.handlers[name] as Handler<AppRoute> | undefined;
  if (handler === undefined)
    throw new OperatorRefusal(
      "not_configured",
      "This gateway runs without this. Its operator can switch it on.",
    );
  const body = changes
    ? await bodyOf(request, shape.answer === "completion" ? on.completionBytes : BODY_BYTES)
    : {};
  const call = {
    ...context.env,
    who,
    params,
    query: readFields(shape.query, queryOf(context)),
    body: shape.body === null ? undefined : readFields(shape.body, body),
    request,
    idempotencyKey: request.headers.get("idempotency-key"),
    cookies: [],
  } as unknown as Call;
  return await answer({ shape, call, target: `${request.method} ${context.req.path}` }, handler, on);
}

async function answer(
  { shape, call, target }: { shape: RouteShape; call: Call; target: string },
  handler: Handler<AppRoute>,
  { people }: AppPorts,
): Promise<Response> {
  // What streams, or carries a cookie of a new session, is not kept: the one is large, the other is a secret.
  if (shape.answer !== "json" || shape.body === null || call.who === null) {
    const result = await handler(call);
    return result instanceof Response ? result : json(JSON.stringify(result), shape.status, call.cookies);
  }
  const { text, replayed } = await once(
    people,
    {
      by: call.who.signedIn.person.id,
      target,
      key: call.idempotencyKey,
      body: JSON.stringify(call.body),
    },
    async () => JSON.stringify(await handler(call)),
  );
  const response = json(text, shape.status, call.cookies);
  if (replayed) for (const [name, value] of Object.entries(REPLAYED)) response.headers.set(name, value);
  return response;
}

/** DELETE may come without a body. */
async function bodyOf(request: Request, limit: number): Promise<unknown> {
  if (request.method === "DELETE" && request.headers.get("content-type") === null) return {};
  return parseJson(await readJsonBody(request, limit));
}

/** A parameter sent twice stays a list, which no schema takes. */
const queryOf = (context: Context): Record<string, string | string[]> =>
  Object.fromEntries(
    Object.entries(context.req.queries()).map(([name, values]) => [
      name,
      values.length === 1 ? (values[0] ?? "") : values,
    ]),
  );

function pathOf(request: Request): string {
  const path = request.url.slice(request.url.indexOf("/", 8));
  return foldPath(path.split("?", 1)[0] ?? path);
}

function json(text: string, status: number, cookies: readonly string[]): Response {
  const headers = new Headers({ "content-type": "application/json", "cache-control": "no-store" });
  for (const cookie of cookies) headers.append("set-cookie", cookie);
  return new Response(text, { status, headers });
}

const wrongMethod = (allow: string): Refusal =>
  new Refusal("method_not_allowed", `This URL takes ${allow}.`, { headers: { allow } });

function refuse(error: unknown, { env }: { env: Exchange }): Response {
  if (error instanceof Refusal) return replyRefusal(env.requestId, error);
  if (error instanceof OperatorRefusal) return replyOperatorRefusal(env.requestId, error);
  throw error;
}

function seal(response: Response, requestId: string): Response {
  // A replayed completion keeps the id of the request that was paid.
  if (!response.headers.has("x-request-id")) response.headers.set("x-request-id", requestId);
  response.headers.set("x-content-type-options", "nosniff");
  response.headers.set("referrer-policy", "no-referrer");
  if (!response.headers.has("cache-control")) response.headers.set("cache-control", "no-store");
  response.headers.delete("www-authenticate");
  return response;
}
