// What a request asks for, after everything that needs no store: parsed, routed, priced. A refusal met here is kept as
// a value, because it is the ledger that says it, in its place among the other refusals (money.md §7).
import type { ChatRequest } from "../domain/chat-request.ts";
import { fitToRelease } from "../releases/fit.ts";
import type { Asked } from "../domain/request-log.ts";
import type { AnswerPrinter } from "./formats/format.ts";
import { parseRequestJson } from "../domain/parse-json.ts";
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

export interface PreparePorts {
  routeTable: {
    candidates(model: string, seeker: RouteSeeker): readonly Release[];
    closedReason(model: string, seeker: RouteSeeker): Refusal;
  };
  providers: ReadonlyMap<string, Provider>;
  /** HMAC of an identifier that a caller chose, keyed per installation and organization: never the raw value. */
  identify(organizationId: string, value: string): string;
  timeouts: { answerMs: number; streamMs: number };
  /** Whose turn it is to have a large body read. */
  pacer: Pacer;
}

type RoutingPorts = Omit<PreparePorts, "pacer">;

/** What the bytes ask for, after everything that needs no store. */
export interface PreparedRequest {
  /** On which it came. */
  surface: string;
  idempotency: IdempotencyKey;
  fingerprint: Uint8Array | null;
  /** The model as the body names it, read even where the rest is refused; null before that. */
  model: string | null;
  request: ChatRequest | null;
  /** Of a request that was parsed. */
  printer: AnswerPrinter | null;
  candidates: Candidate[];
  /** Of its key: by routes of which it is served. */
  scope: Tier;
  /** What its key puts out at most; null: what the model does. */
  outputAtMost: number | null;
  /** The prompt was counted exactly; before that the bound in bytes stands. */
  counted: boolean;
  wanted: Quote | { stage: "shape" | "route"; refusal: Refusal };
}

/** Stands until something is asked for. */
const NOTHING: PreparedRequest["wanted"] = {
  stage: "shape",
  refusal: new Refusal("invalid_request", "The request is empty."),
};

/** What is known of a request whose body nobody has read. */
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

/** Above this a body takes milliseconds to read, which the requests of others would wait. */
const LARGE_BODY_BYTES = 64 * 1024;

/** Steps 3–5: parse, route, price; at once, or where the body is large in turn. What is refused on the way is carried. */
export function prepareRequest(
  ports: PreparePorts,
  incoming: Incoming,
  from: Bytes,
): PreparedRequest | Promise<PreparedRequest> {
  const { organizationId, terms, body } = from;
  if (body.byteLength > LARGE_BODY_BYTES) return prepareLarge(ports, incoming, from);
  return routed(ports, readRequest(incoming, terms, decode(body)), organizationId);
}

/** Whose they are, and what is priced by its key. */
interface Bytes {
  organizationId: string;
  terms: KeyTerms;
  body: Uint8Array;
}

/** In three pieces, each when its turn comes. Throws `Refusal` when the client has left before. */
async function prepareLarge(
  { pacer, ...ports }: PreparePorts,
  incoming: Incoming,
  { organizationId, terms, body }: Bytes,
): Promise<PreparedRequest> {
  const paced = { organizationId, bytes: body.byteLength, signal: incoming.signal };
  const decoded = await pacer.run(paced, () => decode(body));
  const read = await pacer.run(paced, () => readRequest(incoming, terms, decoded));
  return await pacer.run(paced, () => routed(ports, read, organizationId));
}

/** What the body says, or why it is no JSON. */
function decode(body: Uint8Array): unknown {
  try {
    return parseRequestJson(body);
  } catch (error) {
    return asRefusal(error);
  }
}

/** Step 3: the key, what was decoded, its fingerprint. */
function readRequest(
  incoming: Incoming,
  { scope, maxOutputTokens }: KeyTerms,
  decoded: unknown,
): PreparedRequest {
  const { requestId, idempotencyKey, format } = incoming;
  const prepared = nothingPrepared(incoming);
  prepared.scope = scope;
  prepared.outputAtMost = maxOutputTokens;
  try {
    if (idempotencyKey !== null) prepared.idempotency = readIdempotencyKey(idempotencyKey, requestId);
    if (decoded instanceof Refusal) throw decoded;
    prepared.model = modelNamed(decoded);
    const { request, printer } = format.parse(decoded, incoming.header);
    if (prepared.idempotency.callerSupplied)
      prepared.fingerprint = fingerprintOf(format, decoded, request.native?.headers);
    prepared.request = request;
    prepared.printer = printer;
  } catch (error) {
    prepared.wanted = { stage: "shape", refusal: asRefusal(error) };
  }
  return prepared;
}

/** Steps 4 and 5, noted on what was read. */
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

/** The same request by the route table as it is now; nothing of it is read again. */
export function routedAgain(
  ports: RoutingPorts,
  prepared: PreparedRequest,
  organizationId: string,
): PreparedRequest {
  return routed(ports, { ...prepared, candidates: [], counted: false }, organizationId);
}

/** Open releases of the model that can serve what this request needs; the first one's refusal stands for all. */
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
  if (candidates.length === 0) throw refusal ?? notSetUp();
  return candidates;
}

/** The release as a key has it that puts out less than the model: for all that follows, a model of that maximum. */
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

const notSetUp = (): Refusal =>
  new Refusal(
    "route_unavailable",
    "No provider for this model is set up on this gateway. Try again later or choose another model.",
    { retryAfterMs: 5000 },
  );

/** The dearest candidate's quote on these prompt tokens. */
const quoteFor = (request: ChatRequest, candidates: readonly Candidate[], promptTokens: number): Quote =>
  quote({ request, releases: candidates.map(releaseOf), promptTokens });

const releaseOf = ({ release }: Candidate): Release => release;

/** Bodies differ between providers, and so do images and files: the largest bound holds for all. */
export function boundOver(candidates: readonly Candidate[]): number {
  let most = 0;
  for (const { release, body } of candidates) most = Math.max(most, promptBound(body.size, release));
  return most;
}

/** The same request, priced on exactly counted tokens of its prompt. */
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
export function askedOf({ model, request, wanted, counted: exact }: PreparedRequest): Asked {
  const stream = request?.stream ?? false;
  if (request === null || "refusal" in wanted) return { model, stream, bounds: null };
  const { promptTokensMax, outputTokensMax, hold } = wanted;
  const outputTokens = outputTokensMax * request.n;
  return { model, stream, bounds: { promptTokens: promptTokensMax, counted: exact, outputTokens, hold } };
}

function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  throw error;
}
