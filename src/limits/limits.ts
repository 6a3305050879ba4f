// The limits of a gateway, from its settings, in memory of this process: what a call passes on its way in, and the room for
// the bodies of all doors. A limit of callers is a row of `caller-limits.ts`.
import type { CallerIds } from "../domain/credential.ts";
import type { Refusal } from "../domain/refusals.ts";
import type { Clock } from "../lib/clock.ts";
import { type CallerLimitSettings, callerLimits } from "./caller-limits.ts";
import { Concurrency, type ConcurrencySlot } from "./concurrency.ts";
import { Rate, type Taken } from "./rate.ts";
import { Uploads } from "./uploads.ts";

interface LimitSettings extends CallerLimitSettings {
  maxConcurrent: number;
  uploadBytes: number;
  bodyBytes: number;
}

interface LimitPorts {
  clock: Pick<Clock, "monotonicMs">;
  /** Told of each refusal, by the setting's name as operators write it. */
  refused: (limit: string) => void;
}

export interface Limits {
  calls: CallLimits;
  uploads: Uploads;
}

export function openLimits(settings: LimitSettings, { clock, refused }: LimitPorts): Limits {
  const { perMinute, atOnce } = callerLimits(settings);
  return {
    calls: new CallLimits(
      new Concurrency(atOnce, { inProcess: settings.maxConcurrent, refused }),
      new Rate(perMinute, { clock, refused }),
    ),
    uploads: new Uploads({ totalBytes: settings.uploadBytes, bodyBytes: settings.bodyBytes, refused }),
  };
}

/** Of a caller whose key is proven: nobody else's calls count. */
export class CallLimits {
  constructor(
    private readonly concurrency: Concurrency,
    private readonly rate: Rate,
  ) {}

  /** Before the body is read: whether there would be a place now, and one request more in each window of its minute. */
  arrive(caller: CallerIds): Taken {
    const refusal = this.concurrency.refusal(caller);
    return refusal === null ? this.rate.take(caller) : { refusal, headers: {} };
  }

  /** Takes a place until the call is settled, or says why there is none. */
  enter(caller: CallerIds): ConcurrencySlot | Refusal {
    return this.concurrency.take(caller);
  }
}
