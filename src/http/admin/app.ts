// The operator API as one fetch handler (interfaces.md §5): routes the table of operations, admits management keys,
// prints results, and refusals in the one envelope (wire.md §4). Loaded on its first request only.
import type { Actor } from "../../contract/actor.ts";
import { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { OperatorRefusal } from "../../contract/admin-refusals.ts";
import type { Operator } from "../../contract/operator.ts";
import type { People } from "../../contract/people.ts";
import { parseJson } from "../../contract/parse-json.ts";
import { Refusal } from "../../contract/refusals.ts";
import { readJsonBody } from "../body.ts";
import { replyOperatorRefusal, replyRefusal } from "../reply.ts";
import { once, REPLAYED } from "../remember.ts";
import { foldPath } from "../router.ts";
import { openApiDocument } from "./document.ts";
import type { Operation } from "./operation.ts";
import { OPERATIONS } from "./operations.ts";
import { managementKeyOf, type PrincipalStore } from "./principal.ts";
import { referencePage, referenceScript } from "./reference-page.ts";

const ROOT = "/admin/v1";
const BODY_LIMIT_BYTES = 256 * 1024;

interface Bindings {
  requestId: string;
  /** The client's, past trusted proxies. */
  address: string | null;
}
type Call = Context<{ Bindings: Bindings }>;

/** Serves one request; rejects only for bugs, which the front door answers with 500 and logs. */
export type AdminHandler = (request: Request, context: Bindings) => Promise<Response>;

export interface AdminPorts {
  operator: Operator;
  /** Whose keys open it, and whose do not. */
  doors: PrincipalStore;
  /** Where answers to an `Idempotency-Key` are kept. */
  people(): Promise<Pick<People, "answers">>;
}

export function createAdminApp(on: AdminPorts): AdminHandler {
  const app = new OpenAPIHono<{ Bindings: Bindings }>({ getPath: pathOf });
  const methods = new Map<string, string[]>();
  for (const operation of OPERATIONS) {
    const path = `${ROOT}${operation.path.replace(/\{(\w+)\}/g, ":$1")}`;
    methods.set(path, [...(methods.get(path) ?? []), operation.method.toUpperCase()]);
    app.on(operation.method, path, (call) => perform(operation, call, on));
  }
  const document = JSON.stringify(openApiDocument());
  const open: [string, () => Response | Promise<Response>][] = [
    [`${ROOT}/openapi.json`, () => json(document, 200)],
    [`${ROOT}/docs`, referencePage],
    [`${ROOT}/docs/reference.js`, referenceScript],
  ];
  for (const [path, answer] of open) {
    methods.set(path, ["GET"]);
    app.get(path, answer);
  }
  for (const [path, allowed] of methods) app.all(path, () => Promise.reject(wrongMethod(allowed)));
  app.notFound((call) =>
    refuse(new Refusal("unknown_url", `There is nothing at this URL. See ${ROOT}/docs.`), call),
  );
  app.onError((error, call) => refuse(error, call));
  return async (request, context) => seal(await app.fetch(request, context), context);
}

async function perform(operation: Operation, call: Call, on: AdminPorts): Promise<Response> {
  const id = await managementKeyOf(on.doors, call.req.header("authorization") ?? null);
  const { address, requestId } = call.env;
  const actor: Actor = { id, address, requestId };
  const body =
    operation.input.body === null ? {} : parseJson(await readJsonBody(call.req.raw, BODY_LIMIT_BYTES));
  const arrived = { params: call.req.param(), query: queryOf(call), body };
  const work = async (): Promise<string> =>
    JSON.stringify(await operation.perform(on.operator, arrived, actor));
  const key = call.req.header("idempotency-key") ?? null;
  if (key === null || operation.method === "get") return json(await work(), operation.status);
  const form = {
    by: id,
    target: `${call.req.method} ${call.req.path}`,
    key,
    body: JSON.stringify(body),
  };
  const { text, replayed } = await once(await on.people(), form, work);
  return json(text, operation.status, replayed ? REPLAYED : {});
}

/** A parameter sent twice stays a list, which no schema takes. */
const queryOf = (call: Call): Record<string, string | string[]> =>
  Object.fromEntries(
    Object.entries(call.req.queries()).map(([name, values]) => [
      name,
      values.length === 1 ? (values[0] ?? "") : values,
    ]),
  );

function pathOf(request: Request): string {
  const path = request.url.slice(request.url.indexOf("/", 8));
  return foldPath(path.split("?", 1)[0] ?? path);
}

const json = (text: string, status: number, more: Record<string, string> = {}): Response =>
  new Response(text, {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store", ...more },
  });

function wrongMethod(allowed: string[]): Refusal {
  const allow = allowed.join(", ");
  return new Refusal("method_not_allowed", `This URL takes ${allow}.`, { headers: { allow } });
}

function refuse(error: unknown, call: Call): Response {
  const { requestId } = call.env;
  if (error instanceof Refusal) return replyRefusal(requestId, error);
  if (!(error instanceof OperatorRefusal)) throw error;
  return replyOperatorRefusal(requestId, error);
}

function seal(response: Response, { requestId }: Bindings): Response {
  response.headers.set("x-request-id", requestId);
  response.headers.set("x-content-type-options", "nosniff");
  response.headers.set("referrer-policy", "no-referrer");
  return response;
}
