// The quote endpoint (wire.md §5): what a call would hold and whether it would be admitted now. Holds nothing, writes
// nothing. With nothing else running, the call right after it is admitted exactly when `admissible` says so.
import type { ChatRequest } from "../contract/chat-request.ts";
import { formatUsd, type NanoUsd, ZERO_USD } from "../contract/money.ts";
import { Refusal, type RefusalCode } from "../contract/refusals.ts";
import type { KeyRecord, Ledger } from "../ledger/ledger.ts";
import type { Release } from "../contract/release.ts";
import { affordableMaxTokens, promptBoundOver, type Quote } from "../pricing/quote.ts";
import {
  admissionOf,
  type Asking,
  type AskingPorts,
  counted,
  onlyTheBoundRefused,
  readAsking,
} from "./asking.ts";
import { credentialOf } from "./credential.ts";
import type { Incoming } from "./incoming.ts";

export interface PreviewPorts extends Pick<AskingPorts, "timeouts"> {
  /** `open` is what could be tried now; unlike a call, a quote takes no circuit's trial. */
  shelf: { open(model: string): readonly Release[]; closedReason(model: string): Refusal };
  ledger: Pick<Ledger, "authenticate" | "preview" | "balance">;
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
  research_entitlement_required: "entitlement",
  paid_workspace_required: "paid_workspace",
  rate_limit_exceeded: "requests",
};

/** The quote of one call. Throws `Refusal` for what no admission could change: bad bodies, 401, 404. */
export async function preview(
  { shelf, timeouts, ledger }: PreviewPorts,
  incoming: Incoming,
): Promise<unknown> {
  const ports = {
    timeouts,
    shelf: {
      candidates: (model: string) => shelf.open(model),
      closedReason: (model: string) => shelf.closedReason(model),
    },
  };
  const credential = credentialOf(incoming.authorization);
  const body = await incoming.readBody();
  const authenticated = await ledger.authenticate(credential);
  if (authenticated.kind === "refused") throw authenticated.refusal;
  const by = { requestId: incoming.requestId, credential };
  let asking = readAsking(ports, { ...incoming, idempotencyKey: null }, { body, limited: null });
  let outcome = await ledger.preview(admissionOf(ports, asking, by));
  if (outcome.kind === "refused" && onlyTheBoundRefused(asking, outcome.refusal)) {
    asking = await counted(asking);
    outcome = await ledger.preview(admissionOf(ports, asking, by));
  }
  const refusal = outcome.kind === "refused" ? outcome.refusal : null;
  if (refusal !== null && BINDING[refusal.code] === undefined) throw refusal;
  if (asking.request === null) throw new Error("a quote without a request");
  const balance = await ledger.balance(credential.organizationId);
  return printQuote({
    asking,
    request: asking.request,
    refusal,
    key: authenticated.key,
    available: balance?.available ?? ZERO_USD,
  });
}

interface Previewed {
  asking: Asking;
  request: ChatRequest;
  refusal: Refusal | null;
  key: KeyRecord;
  available: NanoUsd;
}

function printQuote({ asking, request, refusal, key, available }: Previewed): unknown {
  const quoted = "refusal" in asking.wanted ? null : asking.wanted;
  const release = quoted?.releases[0] ?? asking.candidates[0]?.release ?? null;
  const remaining = limitRemaining(key);
  return {
    object: "chat.completion.quote",
    model: request.model,
    admissible: refusal === null,
    binding_limit: refusal === null ? null : (BINDING[refusal.code] ?? null),
    refusal: refusal && { status: refusal.status, code: refusal.code, message: refusal.message },
    prompt_tokens_max: quoted?.promptTokensMax ?? null,
    output_tokens_max: quoted?.outputTokensMax ?? null,
    output_tokens_source: quoted?.outputTokensSource ?? null,
    max_charge_usd: quoted && formatUsd(quoted.hold),
    request_minimum_usd: release && formatUsd(release.price.requestMinimum),
    affordable_max_tokens: affordable(asking, request, { quoted, available, remaining }),
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

/** Headroom of the key's monthly limit; null = no limit. */
function limitRemaining(key: KeyRecord): NanoUsd | null {
  if (key.limit === null) return null;
  const left = key.limit - key.monthSpend - key.held;
  return (left > 0n ? left : 0n) as NanoUsd;
}

function affordable(
  asking: Asking,
  request: ChatRequest,
  { quoted, available, remaining }: { quoted: Quote | null; available: NanoUsd; remaining: NanoUsd | null },
): number {
  if (asking.candidates.length === 0 || remaining === ZERO_USD) return 0;
  const releases = asking.candidates.map(({ release }) => release);
  return affordableMaxTokens({
    releases,
    n: request.n,
    budget: available,
    promptTokens: quoted?.promptTokensMax ?? promptBoundOver(request.promptSize, releases),
  });
}
