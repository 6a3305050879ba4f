// The simulator's orders (interfaces.md §6): per model or for the next calls, through `POST /_sim`, or by a request's
// own `x-sim` header. Everything is off by default.
import { z } from "zod";

const count = z.number().int().min(0);

/** A tool call as a test wants it; its arguments are an object. */
const scriptedCall = z.strictObject({
  name: z.string().min(1).max(256),
  arguments: z.record(z.string(), z.unknown()),
});

/** `docs/simulator.md` explains what each is for. */
export const behaviourSchema = z.strictObject({
  /** The delay before the headers, in milliseconds. */
  latency_ms: count.optional(),
  /** Delays the headers until all orders are ended. */
  until_well: z.boolean().optional(),
  /** The delay between the headers and the first event, in milliseconds. */
  first_event_ms: count.optional(),
  tokens_per_second: z.number().positive().optional(),
  tokens_per_chunk: z.number().int().positive().optional(),
  /** Generates this many tokens instead of the usual handful; `max_tokens` still caps it. */
  completion_tokens: count.optional(),
  /** Generates this many tokens whatever `max_tokens` is. */
  overrun_tokens: count.optional(),
  /** Answers with this status instead. */
  status: z.number().int().min(300).max(599).optional(),
  error_code: z.string().max(100).optional(),
  error_message: z.string().max(1000).optional(),
  retry_after_s: count.optional(),
  location: z.string().max(500).optional(),
  /** Closes the socket: before any header, or after this many events of a stream. */
  reset_before_headers: z.boolean().optional(),
  reset_after_events: count.optional(),
  /** Sends nothing more: not even headers, or after this many events. */
  hang: z.boolean().optional(),
  hang_after_events: count.optional(),
  /** An error object inside a 200: as the body, or as an event after this many events. */
  error_in_body: z.boolean().optional(),
  error_after_events: count.optional(),
  /** Answers 200 with something else in it. */
  garbage: z.enum(["html", "json", "line"]).optional(),
  /** Ends the stream without a finish reason. */
  no_finish: z.boolean().optional(),
  no_usage: z.boolean().optional(),
  /** Reports these figures instead of its own; its bill keeps its own. */
  usage: z.strictObject({ prompt_tokens: count, completion_tokens: count }).optional(),
  /** Reports these classes within its tokens. */
  classes: z
    .strictObject({
      cached: count.optional(),
      cache_write: count.optional(),
      audio_input: count.optional(),
      image_input: count.optional(),
      audio_output: count.optional(),
      searches: count.optional(),
    })
    .optional(),
  /** Names this service tier in its response. */
  service_tier: z.string().max(100).optional(),
  /** Reports exactly this object, sane or not. */
  usage_as_is: z.record(z.string(), z.unknown()).optional(),
  /** Reports its usage in the first event of a stream already. */
  usage_first: z.boolean().optional(),
  duplicate_events: z.boolean().optional(),
  /** Continues to send events after `[DONE]`. */
  after_done: z.boolean().optional(),
  /** Answers with exactly this text. */
  text: z.string().max(1_000_000).optional(),
  /**
   * Calls exactly these tools, one round of calls for each round of results in the conversation. After the last
   * round, and if one of its tools is not offered, it answers in words.
   */
  tool_rounds: z.array(z.array(scriptedCall).min(1).max(100)).min(1).max(100).optional(),
  /** Answers with exactly these deltas, one event each; its bill has a token for each. */
  deltas: z.array(z.record(z.string(), z.unknown())).max(100_000).optional(),
});

export type Behaviour = z.infer<typeof behaviourSchema>;

export const controlSchema = z.strictObject({
  behaviour: behaviourSchema,
  /** Only for this upstream model; otherwise for all. */
  model: z.string().max(200).optional(),
  /** For the next calls only; otherwise until it is replaced. */
  calls: z.number().int().positive().optional(),
});

export type Control = z.infer<typeof controlSchema>;

/** The orders in force: the newest takes precedence, and used-up ones are removed. */
export class Behaviours {
  private orders: { control: Control; left: number }[] = [];
  private well = Promise.withResolvers<void>();

  /** Resolves when the current orders are ended. */
  get ended(): Promise<void> {
    return this.well.promise;
  }

  add(control: Control): void {
    this.orders.unshift({ control, left: control.calls ?? Number.POSITIVE_INFINITY });
  }

  clear(): void {
    this.orders = [];
    this.well.resolve();
    this.well = Promise.withResolvers();
  }

  /** Returns the behaviour of one call, from the first order that matches; the call's own header overrides it. */
  take(model: string, header: string | null): Behaviour {
    if (header !== null) return behaviourSchema.parse(JSON.parse(header));
    const order = this.orders.find(({ control }) => control.model === undefined || control.model === model);
    if (order === undefined) return {};
    order.left -= 1;
    if (order.left <= 0) this.orders = this.orders.filter((other) => other !== order);
    return order.control.behaviour;
  }
}
