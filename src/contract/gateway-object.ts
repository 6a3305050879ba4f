// The `gateway` object of every response (specification 2.2): metering and routing record, printed from the receipt.

export type Evidence = "provider_usage" | "delivered_tokens" | "none";
export type Tier = "standard" | "research";

export interface IdempotencyRecord {
  key: string;
  caller_supplied: boolean;
  cross_request_replay_safe: boolean;
}

/** `cost.customer_charge_usd` is a number on the wire; in memory the JSON text is spliced in, see `gateway/receipt`. */
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
  };
  attempts: number;
}
