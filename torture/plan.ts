// The plan of a run: who does what, and when, drawn from one seed before anything is started. Replaying a seed
// replays the plan; the outcome (such as where exactly a kill falls) differs a little each time.

/**
 * `crowd` leaves its streams in bulk; `flooder` sends prompts that are expensive to count and that it cannot pay for.
 */
export type StandIn = "rich" | "poor" | "limited" | "research" | "crowd" | "flooder";

/** An organization of the run. Its keys are those of the plan that name it. */
export interface PlannedCustomer {
  id: number;
  kind: StandIn;
  nano: bigint;
}

export interface PlannedKey {
  id: number;
  customer: number;
  limitNano: bigint | null;
  /** The period of its limit. */
  period: Period;
  /** How long after its creation it expires; null = never. */
  endsInMs: number | null;
}

export type Period = "month" | "week" | "day";

/**
 * When a client leaves: after this many bytes of the body, or after this many milliseconds, whatever has happened by
 * then.
 */
export type Leave = { afterBytes: number } | { afterMs: number } | null;

/** The surface its clients use: `/v1/chat/completions` or another of the gateway's shapes. */
export type SurfaceName = "chat" | "messages" | "responses" | "completions" | "embeddings";

export interface PlannedRequest {
  id: number;
  key: number;
  model: string;
  surface: SurfaceName;
  stream: boolean;
  includeUsage: boolean;
  maxTokens: number | null;
  /** Number of words in the prompt. */
  words: number;
  /** Number of random ideographs after them, the text that is most expensive to tokenize. */
  ideographs: number;
  /** The caller's Idempotency-Key; null = none sent. */
  idempotencyKey: string | null;
}

export type Traffic =
  | { do: "send"; request: PlannedRequest; leave: Leave }
  /** The same request again; `after` resumes a stream after this event. */
  | { do: "repeat"; request: PlannedRequest; leave: Leave; after: number | null }
  /** Another body under the key of a request. */
  | { do: "misuse"; request: PlannedRequest }
  | { do: "open_key"; key: PlannedKey }
  | { do: "revoke"; key: number }
  | { do: "limit"; key: number; nano: bigint }
  /** It serves nothing for that long. */
  | { do: "pause_key"; key: number; ms: number }
  | { do: "top_up"; customer: number; nano: bigint; reference: string }
  | { do: "switch"; model: string; ms: number }
  /**
   * Publishes the next version of a model's release, at another price, perhaps for moments only; `older` tries the
   * first version again.
   */
  | { do: "publish"; model: string; nanoPerToken: bigint; expiresInMs: number; older: boolean }
  | { do: "watch"; customer: number }
  | { do: "audit" };

export type Chaos =
  | { do: "kill"; gateway: number; downMs: number }
  | { do: "restart"; gateway: number }
  /** Kills the gateway and starts one that kills itself at the `n`-th passing of a named point. */
  | { do: "crash_at"; gateway: number; hook: string; n: number }
  | { do: "pause"; gateway: number; ms: number }
  | { do: "pause_provider"; ms: number }
  /** Flips a bit in the stored part of a running stream, and kills the gateway. */
  | { do: "rot_record"; gateway: number }
  /** Another process holds the write lock of the store. */
  | { do: "lock_store"; ms: number }
  | { do: "kill_database"; downMs: number }
  | { do: "freeze_database"; ms: number }
  /**
   * Loses one connection between a gateway and the database: the next one to send this word, before or after sending
   * it.
   */
  | { do: "cut_connection"; word: string; when: "before" | "after" }
  /** The database dies for good, and its synchronous standby takes over, after it was frozen for a while. */
  | { do: "promote_standby"; lagMs: number };

export type Step = { atMs: number } & (Traffic | Chaos);

export interface Plan {
  seed: number;
  ms: number;
  gateways: number;
  customers: PlannedCustomer[];
  /** The keys that exist when the run begins. */
  keys: PlannedKey[];
  /** In the order of `atMs`. */
  steps: Step[];
}
