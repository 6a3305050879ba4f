// The order in which the open routes of one model are tried: lower priority first, equal priorities at random
// by weight.
import type { Release } from "../domain/release.ts";

/** A weighted shuffle within each priority. `random` returns numbers in [0, 1). */
export function inTrialOrder(releases: readonly Release[], random: () => number): readonly Release[] {
  // Exponential races: each is won with a probability proportional to the weight.
  const drawn = releases.map((release) => ({ release, finish: -Math.log(1 - random()) / release.weight }));
  drawn.sort((a, b) => a.release.priority - b.release.priority || a.finish - b.finish);
  return drawn.map(({ release }) => release);
}
