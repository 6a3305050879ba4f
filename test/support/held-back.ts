// Calls that the simulator holds back until others have been refused: whether they run at the same time is no question of how
// fast the machine is.
import type { Simulator } from "../../src/providers/simulator/server.ts";
import { waitFor } from "./wait.ts";

interface HeldBack {
  /** What the others are refused with. */
  status: number;
  /** So many of them; the calls that were taken are answered after that. */
  refusals: number;
  /** How many calls are held back; default: all. */
  calls?: number;
}

/** The replies to `ask`, in its order. Fails if there are other than so many refusals before the first answer. */
export async function heldBack<T extends { status: number }>(
  simulator: Pick<Simulator, "behave" | "behaveWell">,
  { status, refusals, calls }: HeldBack,
  ask: () => Promise<T>[],
): Promise<T[]> {
  simulator.behave({ behaviour: { until_well: true }, ...(calls !== undefined && { calls }) });
  let refused = 0;
  const replies = ask().map(async (asked) => {
    const reply = await asked;
    if (reply.status === status) refused += 1;
    return reply;
  });
  await waitFor(async () => refused >= refusals, `${refusals} refusals`);
  simulator.behaveWell();
  return await Promise.all(replies);
}
