// What a request asks for, after everything that needs no store: parsed, routed, priced. A refusal met here is kept as a value,
// because the ledger reports it, in its place among the other refusals (money.md §7).
import type { ChatRequest } from "../domain/chat-request.ts";
import { fitToRelease } from "../releases/fit.ts";
import type { Asked } from "../domain/request-log.ts";
import type { AnswerPrinter } from "./formats/format.ts";
import { parseRequestJson, type ReadRequest } from "../domain/parse-json.ts";
import type { ReceivedBody } from "../domain/received-body.ts";
import { Refusal } from "../domain/refusals.ts";
import type { Release } from "../domain/release.ts";
import type { Tier } from "../domain/gateway-object.ts";
import type { KeyTerms } from "../ledger/ledger.ts";
import type { Pacer } from "../limits/pacer.ts";
import { promptBound, quote, type Quote } from "../pricing/quote.ts";
import type { Provider } from "../providers/provider.ts";
import type { RouteSeeker } from "../releases/route-table.ts";
import type { Candidate } from "./hold.ts";
import { fingerprintOf, generatedKey, type IdempotencyKey, readIdempotencyKey } from "./idempotency.ts";
import type { Incoming } from "./incoming.ts";
import { noProvider } from "./no-provider.ts";

export interface PreparePorts {
  routeTable: {
    candidates(model: string, seeker: RouteSeeker): readonly Release[];
    closedReason(model: string, seeker: RouteSeeker): Refusal;
  };
  providers: ReadonlyMap<string, Provider>;
  /** HMAC of an identifier that a caller chose, keyed per installation and organization: never the raw value. */
  identify(organizationId: string, value: string): string;
  timeouts: { answerMs: number; streamMs: number };
  /** Gives large bodies their turn to be read. */
  pacer: Pacer;
}

type RoutingPorts = Omit<PreparePorts, "pacer">;

/** What the bytes ask for, after everything that needs no store. */
export interface PreparedRequest {
  /** The surface of the request. */
  surface: string;
  idempotency: IdempotencyKey;
  fingerprint: Uint8Array | null;
  /** The model as the body names it, read even if the rest is refused; null before that. */
  model: string | null;
  request: ChatRequest | null;
  /** Null until the request was parsed. */
  printer: AnswerPrinter | null;
  candidates: Candidate[];
  /** The key's scope: which routes may serve the request. */
  scope: Tier;
  /** The maximum output of the key; null: the model's. */
  outputAtMost: number | null;
  /** The prompt was counted exactly; until then the byte bound applies. */
  counted: boolean;
  /** A count was asked for before admission and did not end: the bound is reserved. */
  boundStands?: true;
  wanted: Quote | { stage: "shape" | "route"; refusal: Refusal };
}

/** The value until something is asked for. */
const NOTHING: PreparedRequest["wanted"] = {
  stage: "shape",
  refusal: new Refusal("invalid_request", "The request is empty."),
};

/** What is known of a request whose body was not read. */
export const nothingPrepared = ({
  requestId,
  format,
}: Pick<Incoming, "requestId" | "format">): PreparedRequest => ({
  surface: format.surface,
  idempotency: generatedKey(requestId),
  fingerprint: null,
  model: null,
  request: null,
  printer: null,
  candidates: [],
  scope: "standard",
  outputAtMost: null,
  counted: false,
  wanted: NOTHING,
});

/** A larger body takes milliseconds to read, during which other requests would wait. */
const LARGE_BODY_BYTES = 64 * 1024;

/** Steps 3–5: parse, route, price; at once, or in turn for a large body. Refusals on the way are carried along. */
export function prepareRequest(
  ports: PreparePorts,
  incoming: Incoming,
  from: Bytes,
): PreparedRequest | Promise<PreparedRequest> {
  const { organizationId, terms, body } = from;
  if (body.bytes.byteLength > LARGE_BODY_BYTES) return prepareLarge(ports, incoming, from);
  return routed(ports, readRequest(incoming, terms, decode(body)), organizationId);
}

/** Whose bytes they are, and what is priced by their key. */
interface Bytes {
  organizationId: string;
  terms: KeyTerms;
  body: ReceivedBody;
}

/** In three steps, each in its turn. Throws `Refusal` if the client has left before. */
async function prepareLarge(
  { pacer, ...ports }: PreparePorts,
  incoming: Incoming,
  { organizationId, terms, body }: Bytes,
): Promise<PreparedRequest> {
  const paced = { organizationId, bytes: body.bytes.byteLength, signal: incoming.signal };
  const decoded = await pacer.run(paced, () => decode(body));
  const read = await pacer.run(paced, () => readRequest(incoming, terms, decoded));
  return await pacer.run(paced, () => routed(ports, read, organizationId));
}

/** The decoded body, or the refusal if it is not JSON. */
function decode(body: ReceivedBody): ReadRequest | Refusal {
  try {
    return parseRequestJson(body);
  } catch (error) {
    return asRefusal(error);
  }
}

/** Step 3: the key, the decoded body, its fingerprint. */
function readRequest(
  incoming: Incoming,
  { scope, maxOutputTokens }: KeyTerms,
  decoded: ReadRequest | Refusal,
): PreparedRequest {
  const { requestId, idempotencyKey, format } = incoming;
  const prepared = nothingPrepared(incoming);
  prepared.scope = scope;
  prepared.outputAtMost = maxOutputTokens;
  try {
    if (idempotencyKey !== null) prepared.idempotency = readIdempotencyKey(idempotencyKey, requestId);
    if (decoded instanceof Refusal) throw decoded;
    const { value, written } = decoded;
    prepared.model = modelNamed(value);
    const { request, printer } = format.parse(value, incoming.header);
    if (prepared.idempotency.callerSupplied)
      prepared.fingerprint = fingerprintOf(format, value, request.native?.headers);
    request.written = written;
    prepared.request = request;
    prepared.printer = printer;
  } catch (error) {
    prepared.wanted = { stage: "shape", refusal: asRefusal(error) };
  }
  return prepared;
}

/** Steps 4 and 5, recorded on the parsed request. */
function routed(ports: RoutingPorts, read: PreparedRequest, organizationId: string): PreparedRequest {
  if (!isParsed(read)) return read;
  try {
    read.candidates = candidatesFor(ports, read, organizationId); // 4
    read.wanted = quoteFor(read.request, read.candidates, boundOver(read.candidates)); // 5
  } catch (error) {
    read.wanted = { stage: "route", refusal: asRefusal(error) };
  }
  return read;
}

type Parsed = PreparedRequest & { request: ChatRequest };
const isParsed = (read: PreparedRequest): read is Parsed => read.request !== null;

/** The same request by the current route table; nothing of it is parsed again. */
export function routedAgain(
  ports: RoutingPorts,
  prepared: PreparedRequest,
  organizationId: string,
): PreparedRequest {
  return routed(ports, { ...prepared, candidates: [], counted: false }, organizationId);
}

/** Open releases of the model that can serve what this request needs; if there is none, the first one's refusal applies. */
function candidatesFor(
  ports: RoutingPorts,
  { request, scope, outputAtMost }: Parsed,
  organizationId: string,
): Candidate[] {
  const seeker = { organizationId, scope };
  const releases = ports.routeTable.candidates(request.model, seeker);
  if (releases.length === 0) throw ports.routeTable.closedReason(request.model, seeker);
  const identifiers = identifiersOf(ports, request, organizationId);
  const candidates: Candidate[] = [];
  let refusal: Refusal | null = null;
  for (const signed of releases) {
    const release = puttingOut(signed, outputAtMost);
    const provider = ports.providers.get(release.provider);
    if (provider === undefined) continue;
    try {
      const fitted = fitToRelease(request, release, provider);
      const body = provider.prepare({ request, release, identifiers, ...fitted });
      candidates.push({ release, body });
    } catch (error) {
      refusal ??= asRefusal(error);
    }
  }
  if (candidates.length === 0) throw refusal ?? noProvider();
  return candidates;
}

/** The release for a key that allows less output than the model: from here on, a model with that maximum. */
export const puttingOut = (release: Release, atMost: number | null): Release =>
  atMost === null || release.maxOutputTokens <= atMost
    ? release
    : {
        ...release,
        maxOutputTokens: atMost,
        defaultOutputTokens: Math.min(atMost, release.defaultOutputTokens),
      };

function identifiersOf(
  ports: Pick<PreparePorts, "identify">,
  request: ChatRequest,
  organizationId: string,
): Record<string, string> {
  const identifiers: Record<string, string> = {};
  const given: Readonly<Record<string, string>> = request.identifiers;
  for (const name in given) identifiers[name] = ports.identify(organizationId, given[name] ?? "");
  return identifiers;
}

/** The dearest candidate's quote for these prompt tokens. */
const quoteFor = (request: ChatRequest, candidates: readonly Candidate[], promptTokens: number): Quote =>
  quote({ request, releases: candidates.map(releaseOf), promptTokens });

const releaseOf = ({ release }: Candidate): Release => release;

/** Bodies differ between providers, and so do images and files: the largest bound holds for all. */
export function boundOver(candidates: readonly Candidate[]): number {
  let most = 0;
  for (const { release, body } of candidates) most = Math.max(most, promptBound(body.size, release));
  return most;
}

/** The same request, priced on exactly counted prompt tokens. */
export function requoted(prepared: PreparedRequest, promptTokens: number): PreparedRequest {
  const { request, candidates } = prepared;
  if (request === null) throw new Error("nothing was counted");
  try {
    return { ...prepared, counted: true, wanted: quoteFor(request, candidates, promptTokens) };
  } catch (error) {
    return { ...prepared, counted: true, wanted: { stage: "route", refusal: asRefusal(error) } };
  }
}

const MODEL_LENGTH_MAX = 200;

function modelNamed(parsed: unknown): string | null {
  if (typeof parsed !== "object" || parsed === null || !("model" in parsed)) return null;
  const { model } = parsed;
  return typeof model === "string" && model !== "" ? model.slice(0, MODEL_LENGTH_MAX) : null;
}

/** What is recorded of a request that holds nothing. */
export function askedOf({ model, request, wanted, counted }: PreparedRequest): Asked {
  const stream = request?.stream ?? false;
  if (request === null || "refusal" in wanted) return { model, stream, bounds: null };
  const { promptTokensMax, outputCeiling, hold } = wanted;
  const outputTokens = outputCeiling * request.n;
  return { model, stream, bounds: { promptTokens: promptTokensMax, counted, outputTokens, hold } };
}

function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  throw error;
}
