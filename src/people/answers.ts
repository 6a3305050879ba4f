// Responses to forms by idempotency key, kept in the store of people, so that a form sent twice acts once, on
// any worker.
import { DAY_MS, HOUR_MS } from "../domain/durations.ts";
import type { Clock } from "../lib/clock.ts";
import type { People } from "./people.ts";
import type { RememberedRow } from "./schema.ts";
import type { SignIn } from "./sign-in.ts";

const MODEL = "rememberedAnswer";
const KEPT_MS = DAY_MS;
/** A claim is released after this time if its process died. */
const RUNS_MS = 60_000;
const SWEEP_EVERY_MS = HOUR_MS;

/** Responses are kept for a day; a claim whose process died is released after a minute. */
export function answers(
  { records }: Pick<SignIn, "records">,
  clock: Pick<Clock, "nowMs">,
): Pick<People, "answers"> {
  let sweptAtMs = 0;
  const at = (place: string) => [{ field: "place", value: place }];
  const sweep = async (nowMs: number): Promise<void> => {
    if (nowMs - sweptAtMs < SWEEP_EVERY_MS) return;
    sweptAtMs = nowMs;
    const where = [{ field: "expiresAt", operator: "lt" as const, value: nowMs }];
    await records.deleteMany({ model: MODEL, where });
  };
  return {
    answers: {
      async claim(place, fingerprint) {
        const nowMs = clock.nowMs();
        await sweep(nowMs);
        const late = [...at(place), { field: "expiresAt", operator: "lt" as const, value: nowMs }];
        await records.deleteMany({ model: MODEL, where: late });
        const data = { place, fingerprint, answer: null, expiresAt: nowMs + RUNS_MS };
        try {
          await records.create({ model: MODEL, data });
          return "mine";
        } catch (error) {
          // The place is taken; any other error is rethrown.
          const found = await records.findOne<RememberedRow>({ model: MODEL, where: at(place) });
          if (found === null) throw error;
          return { fingerprint: found.fingerprint, answer: found.answer };
        }
      },
      async keep(place, answer) {
        const update = { answer, expiresAt: clock.nowMs() + KEPT_MS };
        await records.update({ model: MODEL, where: at(place), update });
      },
      forget: (place) => records.delete({ model: MODEL, where: at(place) }),
    },
  };
}
