// Least squares in three unknowns: the cost of a request, a commit and a touch, from rounds with different numbers of
// each. Exact if the rounds follow the three costs, and close if they almost do.
import type { Parts } from "./model.ts";

export interface Round {
  /** Per request. */
  commits: number;
  touches: number;
  cost: number;
}

type Row = [number, number, number];

/**
 * Minimizes relative errors, so that a round of 2,000 µs does not outweigh one of 70. Throws if the rounds are too
 * similar.
 */
export function fitted(rounds: readonly Round[]): Parts {
  const left: [Row, Row, Row] = [
    [0, 0, 0],
    [0, 0, 0],
    [0, 0, 0],
  ];
  const right: Row = [0, 0, 0];
  for (const { commits, touches, cost } of rounds) {
    const x: Row = [1 / cost, commits / cost, touches / cost];
    for (const i of [0, 1, 2] as const) {
      right[i] += x[i];
      for (const j of [0, 1, 2] as const) left[i][j] += x[i] * x[j];
    }
  }
  const whole = determinant(left);
  const size = left[0][0] * left[1][1] * left[2][2];
  if (Math.abs(whole) < 1e-9 * size) throw new Error("the rounds are too alike to tell their parts");
  const solved = ([0, 1, 2] as const).map(
    (column) =>
      determinant(left.map((row, i) => row.with(column, right[i as 0]) as Row) as typeof left) / whole,
  );
  const [request = 0, commit = 0, touch = 0] = solved;
  return { request, commit, touch };
}

const determinant = ([a, b, c]: [Row, Row, Row]): number =>
  a[0] * (b[1] * c[2] - b[2] * c[1]) -
  a[1] * (b[0] * c[2] - b[2] * c[0]) +
  a[2] * (b[0] * c[1] - b[1] * c[0]);
