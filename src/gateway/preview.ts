// The quote endpoint (wire.md §5): what a call would hold and whether it would be admitted now. Holds nothing, writes nothing. If
// nothing else runs, the call right after it is admitted exactly when `admissible` says so.
import type { ChatRequest } from "../domain/chat-request.ts";
import { formatUsd, type NanoUsd, ZERO_USD } from "../domain/money.ts";
import { ReceivedBody } from "../domain/received-body.ts";
import type { Refusal, RefusalCode } from "../domain/refusals.ts";
import { leftOf } from "../ledger/key-spans.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Release } from "../domain/release.ts";
import type { RouteSeeker } from "../releases/route-table.ts";
import { affordableMaxTokens, type Quote } from "../pricing/quote.ts";
import { admissionRequestOf } from "./admission-request.ts";
import { boundOver, prepareRequest, type PreparedRequest, type PreparePorts } from "./prepared-request.ts";
import { type PromptRoomPorts, withPromptRoom } from "./prompt-room.ts";
import { countPrompt, worthCounting } from "./count-prompt.ts";
import { credentialOf } from "./credential.ts";
import type { Credential } from "../domain/credential.ts";
import type { Incoming } from "./incoming.ts";
import { withWayOut } from "./short-of-credits.ts";
import { authenticateKey, type KeyRecord } from "../registry/api-keys.ts";

export interface PreviewPorts extends Omit<PreparePorts, "routeTable">, PromptRoomPorts {
  /** `open` is what could be tried now; unlike a call, a quote does not take a circuit's trial. */
  routeTable: {
    open(model: string, seeker: RouteSeeker): readonly Release[];
    closedReason(model: string, seeker: RouteSeeker): Refusal;
  };
  ledger: Pick<Ledger, "balance" | "preview" | "read">;
}

const BINDING: Partial<Record<RefusalCode, string>> = {
  insufficient_credits: "credits",
  key_spend_limit_reached: "key_limit",
  context_length_exceeded: "context",
  route_disabled: "route",
  route_release_stale: "route",
  route_unhealthy: "route",
  route_unavailable: "route",
  scope_not_permitted: "scope",
  model_not_allowed: "model",
  research_entitlement_required: "entitlement",
  paid_workspace_required: "paid_workspace",
  organization_stopped: "organization",
  rate_limit_exceeded: "requests",
};

const bindingOf = ({ code, type }: Refusal): string | null =>
  code === "rate_limit_exceeded" && type === "tokens" ? "tokens" : (BINDING[code] ?? null);

/** Too much is being counted: nothing is known about this call. */
const BUSY: ReadonlySet<RefusalCode> = new Set(["rate_limit_exceeded", "overloaded"]);

/** For questions about a call: the trial of a circuit is left to the call itself. */
export const withoutTrials = (table: PreviewPorts["routeTable"]): PreparePorts["routeTable"] => ({
  candidates: (model, seeker) => table.open(model, seeker),
  closedReason: (model, seeker) => table.closedReason(model, seeker),
});

/** The quote of one call. Throws `Refusal` for what no admission could change: bad bodies, 401, 404. */
export async function preview(ports: PreviewPorts, incoming: Incoming): Promise<unknown> {
  const { ledger } = ports;
  const credential = credentialOf(incoming.authorization);
  incoming.checkBody();
  const authenticated = await authenticateKey(ledger, credential);
  if (authenticated.kind === "refused") throw authenticated.refusal;
  const { organizationId } = credential;
  const body = new ReceivedBody(await incoming.readBody(organizationId));
  const asked = { incoming, credential, key: authenticated.key, body };
  const prompt = { organizationId, body, signal: incoming.signal };
  return await withPromptRoom(ports, prompt, () => previewed(ports, asked));
}

interface Previewing {
  incoming: Incoming;
  credential: Credential;
  key: KeyRecord;
  body: ReceivedBody;
}

async function previewed(
  { routeTable, ledger, ...others }: PreviewPorts,
  { incoming, credential, key, body }: Previewing,
): Promise<unknown> {
  const ports = { ...others, routeTable: withoutTrials(routeTable) };
  const { organizationId } = credential;
  const by = { requestId: incoming.requestId, credential };
  let prepared = await prepareRequest(
    ports,
    { ...incoming, idempotencyKey: null },
    { organizationId, terms: key, body },
  );
  let outcome = await ledger.preview(admissionRequestOf(ports, prepared, by));
  const counting = outcome.kind === "refused" ? worthCounting(prepared, outcome) : null;
  if (outcome.kind === "refused" && counting !== null) {
    const counted = await countPrompt(prepared, outcome, {
      organizationId,
      signal: incoming.signal,
      ...counting,
    });
    if ("kind" in counted) {
      if (counted.short === undefined && BUSY.has(counted.refusal.code)) throw counted.refusal;
      outcome = counted;
    } else {
      prepared = counted;
      outcome = await ledger.preview(admissionRequestOf(ports, prepared, by));
    }
  }
  const refusal = outcome.kind === "refused" ? withWayOut(prepared, outcome) : null;
  if (refusal !== null && BINDING[refusal.code] === undefined) throw refusal;
  if (prepared.request === null) throw new Error("a quote without a request");
  const balance = await ledger.balance(organizationId);
  return printQuote({
    object: incoming.format.object,
    prepared,
    request: prepared.request,
    refusal,
    key,
    available: balance?.available ?? ZERO_USD,
  });
}

interface Previewed {
  object: string;
  prepared: PreparedRequest;
  request: ChatRequest;
  refusal: Refusal | null;
  key: KeyRecord;
  available: NanoUsd;
}

function printQuote({ object, prepared, request, refusal, key, available }: Previewed): unknown {
  const quoted = "refusal" in prepared.wanted ? null : prepared.wanted;
  const release = quoted?.releases[0] ?? prepared.candidates[0]?.release ?? null;
  const remaining = leftOf(key.spans);
  return {
    object: `${object}.quote`,
    model: request.model,
    admissible: refusal === null,
    binding_limit: refusal === null ? null : bindingOf(refusal),
    refusal: refusal && {
      status: refusal.status,
      code: refusal.code,
      message: refusal.message,
      details: refusal.details ?? null,
    },
    prompt_tokens_max: quoted?.promptTokensMax ?? null,
    output_tokens_max: quoted?.outputCeiling ?? null,
    output_tokens_source: quoted && sourceOf(quoted, key),
    max_charge_usd: quoted && formatUsd(quoted.hold),
    request_minimum_usd: release && formatUsd(release.price.requestMinimum),
    affordable_max_tokens: affordable(prepared, request, { quoted, available, remaining }),
    available_usd: formatUsd(available),
    key_limit_remaining_usd: remaining === null ? null : formatUsd(remaining),
    route: release && {
      provider: release.provider,
      region: release.region,
      state: "live",
      release_version: release.version,
    },
  };
}

/** The maximum attributed to a release may be the key's. */
const sourceOf = (
  { outputCeiling, outputTokensSource: source }: Quote,
  { maxOutputTokens }: KeyRecord,
): string => (source.startsWith("release_") && outputCeiling === maxOutputTokens ? "key_maximum" : source);

function affordable(
  prepared: PreparedRequest,
  request: ChatRequest,
  { quoted, available, remaining }: { quoted: Quote | null; available: NanoUsd; remaining: NanoUsd | null },
): number {
  if (prepared.candidates.length === 0 || remaining === ZERO_USD) return 0;
  const releases = prepared.candidates.map(({ release }) => release);
  return affordableMaxTokens({
    releases,
    n: request.n,
    budget: available,
    promptTokens: quoted?.promptTokensMax ?? boundOver(prepared.candidates),
  });
}
