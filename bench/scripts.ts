// The scripts of the benchmark's upstream, by model name. The names are also the public model ids of the bench's
// releases, so one request body fits every peer. Payloads: performance.md §4.4.

/** One JSON answer of about `replyBytes`, after `delayMs`. */
export interface JsonScript {
  kind: "json";
  replyBytes: number;
  delayMs: number;
  completionTokens: number;
}

/** `chunks` content events, one every `everyMs`; before the chunk `silence.before` there is a pause of `silence.ms`. */
export interface StreamScript {
  kind: "stream";
  chunks: number;
  everyMs: number;
  silence: { before: number; ms: number } | null;
  completionTokens: number;
}

/** `totalBytes` of events, as fast as the reader takes them. */
export interface FloodScript {
  kind: "flood";
  totalBytes: number;
  completionTokens: number;
}

export type UpstreamScript = JsonScript | StreamScript | FloodScript;

const json = (replyBytes: number, completionTokens: number, delayMs = 0): JsonScript => ({
  kind: "json",
  replyBytes,
  delayMs,
  completionTokens,
});
const stream = (chunks: number, everyMs: number, silence: StreamScript["silence"] = null): StreamScript => ({
  kind: "stream",
  chunks,
  everyMs,
  silence,
  completionTokens: chunks,
});

export const SCRIPTS = {
  "bench-json-1k": json(1024, 150),
  "bench-json-10k": json(10_240, 2_000),
  "bench-json-slow": json(1024, 150, 1_500),
  "bench-sse-50x5": stream(50, 5),
  "bench-sse-500x2": stream(500, 2),
  "bench-sse-slow": stream(40, 250),
  "bench-sse-silence": stream(10, 5, { before: 5, ms: 30_000 }),
  "bench-sse-flood": { kind: "flood", totalBytes: 400 * 1024 * 1024, completionTokens: 1_000 },
} as const satisfies Record<string, UpstreamScript>;

export type ScriptName = keyof typeof SCRIPTS;
export const SCRIPT_NAMES = Object.keys(SCRIPTS) as ScriptName[];
export const isScriptName = (name: string): name is ScriptName => Object.hasOwn(SCRIPTS, name);

/** Every scripted call reports this many prompt tokens; small enough for every hold. */
export const PROMPT_TOKENS = 40;

/** Rates of the bench's releases, nano-USD per token and per request. */
export const RATES = { inputNano: 500n, outputNano: 1_500n, minimumNano: 100_000n } as const;
