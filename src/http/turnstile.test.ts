import { expect, test } from "bun:test";
import { Turnstile } from "./turnstile.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("so many go on at once; those beyond go on turn by turn, in order, before whoever comes later", async () => {
  const turnstile = new Turnstile();
  const through: number[] = [];
  const come = (from: number, to: number): void => {
    for (let n = from; n < to; n += 1) {
      const waits = turnstile.pass();
      if (waits === null) through.push(n);
      else void waits.then(() => through.push(n));
    }
  };
  come(0, 600);
  expect(through).toHaveLength(256);
  await turn();
  come(600, 700);
  expect(through).toHaveLength(512);
  for (let n = 0; n < 3; n += 1) await turn();
  expect(through).toEqual(Array.from({ length: 700 }, (_, n) => n));
  expect(turnstile.pass()).toBeNull();
});

test("nobody waits in a turn of its own", async () => {
  const turnstile = new Turnstile();
  for (let n = 0; n < 1_000; n += 1) {
    expect(turnstile.pass()).toBeNull();
    if (n % 200 === 0) await turn();
  }
});
