// What a request asks for, after everything that needs no store: parsed, routed, priced. A refusal met here is kept as
// a value, because it is the ledger that says it, in its place among the other refusals (money.md §7).
import type { Credential } from "../contract/credential.ts";
import type { ChatRequest } from "../contract/chat-request.ts";
import { fitToRelease } from "../contract/fit-to-release.ts";
import { parseChatRequest } from "../contract/parse-chat-request.ts";
import { parseJson } from "../contract/parse-json.ts";
import { Refusal } from "../contract/refusals.ts";
import type { Release } from "../contract/release.ts";
import type { Admission, AdmissionPlan } from "../ledger/ledger.ts";
import { quote, type Quote } from "../pricing/quote.ts";
import { promptTokens } from "../pricing/tokens.ts";
import type { Candidate } from "./hold.ts";
import { fingerprintOf, generatedKey, type IdempotencyKey, readIdempotencyKey } from "./idempotency.ts";
import type { Incoming } from "./incoming.ts";

export interface AskingPorts {
  shelf: { candidates(model: string): readonly Release[]; closedReason(model: string): Refusal };
  timeouts: { answerMs: number; streamMs: number };
}

/** What the bytes ask for, after everything that needs no store. */
export interface Asking {
  idempotency: IdempotencyKey;
  fingerprint: Uint8Array | null;
  request: ChatRequest | null;
  candidates: Candidate[];
  /** The prompt was counted exactly; before that its byte bound stands. */
  counted: boolean;
  wanted: Quote | { stage: "shape" | "route"; refusal: Refusal };
}

/** Stands until something is asked for. */
const NOTHING: Asking["wanted"] = {
  stage: "shape",
  refusal: new Refusal("invalid_request", "The request is empty."),
};

/** Steps 2–4: parse, route, price. What is refused on the way is carried. */
export function readAsking(
  ports: AskingPorts,
  incoming: Incoming,
  from: { body: Uint8Array; limited: Refusal | null },
): Asking {
  const asking: Asking = {
    idempotency: generatedKey(incoming.requestId),
    fingerprint: null,
    request: null,
    candidates: [],
    counted: false,
    wanted: NOTHING,
  };
  try {
    if (from.limited !== null) throw from.limited;
    asking.idempotency = readIdempotencyKey(incoming.idempotencyKey, incoming.requestId);
    const parsed = parseJson(from.body);
    asking.request = parseChatRequest(parsed);
    if (asking.idempotency.callerSupplied) asking.fingerprint = fingerprintOf(parsed);
  } catch (error) {
    return { ...asking, wanted: { stage: "shape", refusal: asRefusal(error) } };
  }
  try {
    asking.candidates = candidatesFor(ports.shelf, asking.request); // 3
    asking.wanted = quoteFor(asking.request, asking.candidates, null); // 4
  } catch (error) {
    asking.wanted = { stage: "route", refusal: asRefusal(error) };
  }
  return asking;
}

/** Open releases of the model that can serve what this request needs; the first one's refusal stands for all. */
function candidatesFor(shelf: AskingPorts["shelf"], request: ChatRequest): Candidate[] {
  const releases = shelf.candidates(request.model);
  const [first] = releases;
  if (first === undefined) throw shelf.closedReason(request.model);
  if (releases.length === 1) return [{ release: first, ...fitToRelease(request, first) }];
  const fits = releases.map((release) => fitting(request, release));
  const candidates = fits.filter((fit): fit is Candidate => !(fit instanceof Refusal));
  if (candidates.length === 0) throw fits[0];
  return candidates;
}

function fitting(request: ChatRequest, release: Release): Candidate | Refusal {
  try {
    return { release, ...fitToRelease(request, release) };
  } catch (error) {
    return asRefusal(error);
  }
}

/** The dearest candidate's quote on `promptTokens`, or on the byte bound when nobody has counted yet. */
function quoteFor(
  request: ChatRequest,
  candidates: readonly Candidate[],
  promptTokens: number | null,
): Quote {
  return quote({ request, releases: candidates.map(({ release }) => release), promptTokens });
}

/** Whether an exact count could still let this request in (money.md §6). */
export function onlyTheBoundRefused(asking: Asking, refusal: Refusal): boolean {
  const tokenizer = asking.candidates[0]?.release.tokenizer;
  if (asking.request === null || tokenizer === undefined || tokenizer === "bytes") return false;
  return refusal.code === "insufficient_credits" || refusal.code === "context_length_exceeded";
}

/** The same request, priced on exactly counted tokens. */
export async function counted(asking: Asking): Promise<Asking> {
  const { request, candidates } = asking;
  const release = candidates[0]?.release;
  if (request === null || release === undefined) throw new Error("nothing to count");
  const tokens = await promptTokens(request, release);
  try {
    return { ...asking, counted: true, wanted: quoteFor(request, candidates, tokens) };
  } catch (error) {
    return { ...asking, counted: true, wanted: { stage: "route", refusal: asRefusal(error) } };
  }
}

/** The question that COMMIT 1 answers. */
export function admissionOf(
  ports: AskingPorts,
  asking: Asking,
  by: { requestId: string; credential: Credential },
): Admission {
  const { wanted, fingerprint, idempotency } = asking;
  const claim = fingerprint === null ? null : { idempotencyKey: idempotency.value, fingerprint };
  return {
    ...by,
    claim,
    asked:
      "refusal" in wanted
        ? { kind: "refusal", ...wanted }
        : { kind: "plan", plan: planOf(ports, asking, wanted) },
  };
}

function planOf(ports: AskingPorts, asking: Asking, quoted: Quote): AdmissionPlan {
  const { request } = asking;
  const [first] = quoted.releases;
  if (request === null || first === undefined) throw new Error("a quote without a request");
  return {
    model: request.model,
    tier: first.tier,
    requiresPaid: quoted.releases.some(({ requiresPaid }) => requiresPaid),
    routes: quoted.releases.map((release) => ({
      route: release.route,
      version: release.version,
      digest: release.digest,
      expiresAtMs: release.expiresAtMs,
    })),
    hold: quoted.hold,
    promptBound: quoted.promptTokensMax,
    outputBound: quoted.outputTokensMax * request.n,
    stream: request.stream,
    timeoutMs: request.stream ? ports.timeouts.streamMs : ports.timeouts.answerMs,
  };
}

function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  throw error;
}
