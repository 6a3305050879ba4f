// Serves every endpoint of the API over HTTP, at both doors alike: route, admit, read the input, run, print.
import type { Context, Hono } from "hono";
import type { CsvFile } from "../../api/csv.ts";
import type { Caller, Endpoint, PdfFile, Stream } from "../../api/endpoint.ts";
import type { Exchange } from "../../api/exchange.ts";
import type { Rooms } from "../../api/rooms.ts";
import { methodOf, pathFields, pathOf, type Target } from "../../api/target.ts";
import { OperatorRefusal } from "../../domain/operator-refusals.ts";
import { parseJson } from "../../domain/parse-json.ts";
import type { People } from "../../people/people.ts";
import { readJsonBody, strangersRoom } from "../body.ts";
import { once } from "../remember.ts";
import { REPLAYED } from "../../gateway/attach.ts";
import { Lines } from "../../lib/lines.ts";
import { OpenReads } from "../../limits/open-reads.ts";
import type { Uploads } from "../../limits/uploads.ts";
import type { Asker } from "../../store/reading-turns.ts";
import { admit, type Asked, type Identity, stillAdmitted } from "./admit.ts";
import { type CsvReader, csvResponse } from "./csv.ts";
import { pdfResponse } from "./pdf.ts";
import { besidesPath, checkPath, readInput } from "./input.ts";

const BODY_BYTES = 256 * 1024;

/** Concurrent reads of one person, as many as a page makes at once. Further ones wait without delaying other people's reads. */
const READS_ABREAST = 8;

/** Operators take turns as one party, whichever organization they look at. */
const OPERATORS = "operators";

/** What arrives with a call in addition to its request. */
export type Arrived = Pick<Exchange, "visitor" | "requestId" | "receivedAtMs" | "setIdleTimeout" | "sending">;
type Call = Context<{ Bindings: Arrived }>;

/** One of the two ways in. */
export interface Door {
  root: "/app/v1" | "/admin/v1";
  /** The owner of the credential; null if there is none. Throws for a call that may not be made at all. */
  identify(request: Request, arrived: Arrived): Promise<Identity | null>;
}

export interface ServePorts {
  /** For one read: its statements take turns with those of others (`store/reading-turns.ts`). */
  rooms(this: void, asker: Asker): Partial<Rooms>;
  /** The same for changes: what they look up does not wait for reads. */
  changing(this: void, asker: Asker): Partial<Rooms>;
  uploads: Uploads;
  /** The limit for the playground, whose bodies are requests of `/v1`. */
  completionBytes: number;
  /** Where answers to an `Idempotency-Key` are stored. */
  people(): Promise<Pick<People, "answers">>;
}

/** Adds the endpoints of this door; `methods` collects the methods of each path. */
export function mount(
  app: Hono<{ Bindings: Arrived }>,
  {
    endpoints,
    door,
    methods,
  }: { endpoints: readonly { endpoint: Endpoint }[]; door: Door; methods: Map<string, string[]> },
  on: ServePorts,
): void {
  const lines = { reading: new Lines(READS_ABREAST), open: new OpenReads(), pages: new Lines(1) };
  for (const { endpoint } of endpoints)
    for (const target of endpoint.targets) {
      if (!pathOf(target).startsWith(`${door.root}/`)) continue;
      const path = pathOf(target).replace(/\{(\w+)\}/g, ":$1");
      methods.set(path, [...(methods.get(path) ?? []), methodOf(target)]);
      app.on(methodOf(target), path, (call) =>
        perform({ endpoint, target, door, call }, { ...on, ...lines }),
      );
    }
}

interface Performed {
  endpoint: Endpoint;
  target: Target;
  door: Door;
  call: Call;
}

async function perform(
  { endpoint, target, door, call }: Performed,
  on: ServePorts & { reading: Lines; open: OpenReads; pages: Lines },
): Promise<Response> {
  const { raw: request } = call.req;
  const changes = methodOf(target) !== "GET";
  const params = Object.fromEntries(pathFields(target).map((name) => [name, call.req.param(name) ?? ""]));
  const asked: Asked = { who: endpoint.who, organizationId: params["org"] ?? null, changes };
  const identify = (): Promise<Identity | null> => door.identify(request, call.env);
  const caller = await admit(await identify(), asked);
  checkPath(endpoint.input, params);
  const body = changes ? await bodyOf(request, { endpoint, target, caller, call }, on) : undefined;
  const input = readInput(endpoint.input, { params, query: queryOf(call), body });
  // The request has arrived in full. Its work takes as long as it takes, and an audit minutes.
  call.env.setIdleTimeout(0);
  const cookies: string[] = [];
  const exchange: Exchange = {
    ...call.env,
    request,
    idempotencyKey: request.headers.get("idempotency-key"),
    stands: () => stillAdmitted(identify, asked),
    cookies,
  };
  const asker = askerOf(caller, asked, call);
  const rooms = changes ? on.changing(asker) : on.rooms(asker);
  const run = async (): Promise<unknown> => {
    // Reading a body takes time, and so does an earlier form with the same key. What counts is what the caller may do now
    // (hardening.md S10).
    const acting = changes ? await admit(await identify(), asked) : caller;
    if (acting?.allowance === "own" && endpoint.own !== null)
      assertOwn(target, acting, await endpoint.own(input as never, rooms));
    return await endpoint.run({ input, caller: acting, exchange }, rooms);
  };
  const ran = async (): Promise<unknown> => {
    if (changes || caller === null) return await run();
    const done = on.open.begin(asker.party);
    try {
      return await on.reading.run({ place: asker.by, by: asker.by, signal: asker.signal }, run);
    } finally {
      done();
    }
  };
  if (typeof endpoint.output === "string") {
    const { stands } = exchange;
    return streamed(endpoint.output, await ran(), { asker, stands, pages: on.pages });
  }
  // An answer with a new session's cookie is not stored: the cookie is a secret.
  if (!changes || caller === null || exchange.idempotencyKey === null)
    return json(JSON.stringify(await ran()), endpoint.status, cookies);
  const form = {
    by: caller.actor.id,
    target: `${request.method} ${call.req.path}`,
    key: exchange.idempotencyKey,
    // A script's body as it arrived, a form's as it was read: compatible with what earlier releases stored.
    body: JSON.stringify(door.root === "/admin/v1" ? body : besidesPath(target, input)),
  };
  const { text, replayed } = await once(await on.people(), form, async () => JSON.stringify(await run()));
  const response = json(text, endpoint.status, cookies);
  if (replayed) for (const [name, value] of Object.entries(REPLAYED)) response.headers.set(name, value);
  return response;
}

/**
 * Whose turn it is when this call reads: its organization's, if the caller is a member; that of all operators; otherwise
 * the caller's own. A change is completed even if its client has gone.
 */
function askerOf(caller: Caller | null, { who, organizationId, changes }: Asked, call: Call): Asker {
  const { signal } = call.req.raw;
  const gone = changes ? {} : { signal };
  if (caller === null) return { party: "strangers", by: call.env.visitor.address ?? "", ...gone };
  const by = caller.actor.id;
  if (who === "anybody" || who === "signed_in") return { party: by, by, ...gone };
  const isMember = caller.standings.some((standing) => standing !== "operator");
  return { party: organizationId !== null && isMember ? organizationId : OPERATORS, by, ...gone };
}

/** Output other than a JSON document. */
function streamed(output: Stream, made: unknown, reader: CsvReader): Response {
  if (output === "csv") return csvResponse(made as CsvFile, reader);
  if (output === "pdf") return pdfResponse(made as PdfFile);
  return made as Response;
}

/** Refuses a caller whose role covers only what they created, if somebody else created this. */
function assertOwn(target: Target, { actor }: Caller, maker: string | null): void {
  if (maker === actor.id) return;
  const thing = pathFields(target).at(-1) ?? null;
  throw new OperatorRefusal(
    "role_not_permitted",
    `Your role may only change ${thing}s that you created.`,
    thing,
  );
}

/** DELETE may come without a body. A script sends none if the endpoint takes nothing; a page always declares JSON. */
async function bodyOf(
  request: Request,
  {
    endpoint,
    target,
    caller,
    call,
  }: Pick<Performed, "endpoint" | "target" | "call"> & { caller: Caller | null },
  on: ServePorts,
): Promise<unknown> {
  if (request.method === "DELETE" && request.headers.get("content-type") === null) return {};
  const takesNothing = Object.keys(endpoint.input.shape).length === pathFields(target).length;
  if (takesNothing && pathOf(target).startsWith("/admin/v1/")) return {};
  const limitBytes = endpoint.output === "completion" ? on.completionBytes : BODY_BYTES;
  const { uploads } = on;
  const room =
    caller === null
      ? strangersRoom(uploads, target, call.env.visitor.address)
      : { uploads, account: caller.actor.id };
  const body = await readJsonBody(request, { ...room, limitBytes });
  return parseJson(body);
}

/** A parameter sent twice stays a list, which no schema accepts. */
const queryOf = (call: Call): Record<string, string | string[]> =>
  Object.fromEntries(
    Object.entries(call.req.queries()).map(([name, values]) => [
      name,
      values.length === 1 ? (values[0] ?? "") : values,
    ]),
  );

function json(text: string, status: number, cookies: readonly string[]): Response {
  const headers = new Headers({ "content-type": "application/json", "cache-control": "no-store" });
  for (const cookie of cookies) headers.append("set-cookie", cookie);
  return new Response(text, { status, headers });
}
