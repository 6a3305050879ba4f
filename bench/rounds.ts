// Interleaved rounds: every round visits every peer once, in alternating order, so that a machine that slows down for
// a while slows all of them. Ratios are taken within a round, then their median (performance.md §4.2).
import { pairwise } from "./stats.ts";
import type { RunningPeer } from "./peer.ts";

/** Samples by peer name, one per round. */
export type Samples<Sample> = Map<string, Sample[]>;

export async function interleave<Sample>(
  peers: RunningPeer[],
  rounds: number,
  measure: (peer: RunningPeer) => Promise<Sample>,
): Promise<Samples<Sample>> {
  const samples: Samples<Sample> = new Map(peers.map((peer) => [peer.name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const peer of round % 2 === 0 ? peers : peers.toReversed())
      samples.get(peer.name)?.push(await measure(peer));
  }
  return samples;
}

export function valuesOf<Sample>(
  samples: Samples<Sample>,
  peer: string,
  value: (sample: Sample) => number,
): number[] {
  return (samples.get(peer) ?? []).map(value);
}

export const ratios = (values: number[], controls: number[]): number[] =>
  pairwise(values, controls, (value, control) => value / control);
export const differences = (values: number[], controls: number[]): number[] =>
  pairwise(values, controls, (value, control) => value - control);
