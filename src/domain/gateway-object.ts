// The `gateway` object of every response (specification 2.2): metering and routing record, printed from the receipt.

/** `operator`: the charge of a request that nobody could end, set by hand within its hold. */
export const EVIDENCE = ["provider_usage", "delivered_tokens", "none", "operator"] as const;
export type Evidence = (typeof EVIDENCE)[number];
/** The evidence that a gateway itself charges by: the charge follows from it. */
export type Metered = Exclude<Evidence, "operator">;
export type Tier = "standard" | "research";

interface IdempotencyRecord {
  key: string;
  caller_supplied: boolean;
  cross_request_replay_safe: boolean;
}

/** `cost.customer_charge_usd` is a number on the wire; its JSON text is spliced in, see `gateway/receipt`. */
export interface GatewayObject {
  request_id: string;
  idempotency: IdempotencyRecord;
  public_model: string;
  provider: string;
  route: { public_model: string; provider: string; region: string; release_version: number };
  access: { tier: Tier; research_mode: boolean };
  cost: {
    input_tokens: number;
    output_tokens: number;
    customer_charge_usd: number;
    currency: "USD";
    minimum_applied: boolean;
    evidence: Evidence;
    /** Exact decimal strings of US dollars; they add up to the charge. */
    lines: {
      class: string;
      tokens?: number;
      calls?: number;
      usd_per_million?: string;
      usd_per_thousand?: string;
      amount_usd: string;
    }[];
  };
  attempts: number;
}
