import { expect, test } from "bun:test";
import fc from "fast-check";
import { Counts, Shares, type TakenShares } from "./shares.ts";

test("whatever is taken and given back, no share ever has more than its most, and at the end nothing is taken", () => {
  const step = fc.record({ key: fc.nat(3), amount: fc.integer({ min: 1, max: 4 }), giveBack: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const shares = new Shares();
      const held: TakenShares[] = [];
      for (const { key, amount, giveBack } of steps) {
        const of = [
          { of: `key-${key}`, most: 5 },
          { of: `org-${key % 2}`, most: 7 },
          { of: "all", most: 11 },
        ];
        const room = of.every(({ of: id, most }) => shares.takenOf(id) + amount <= most);
        expect(shares.passed(of, amount) === null).toBe(room);
        if (room) held.push(shares.take(of, amount));
        if (giveBack) held.shift()?.done();
        expect(shares.takenOf("all")).toBeLessThanOrEqual(11);
        expect(shares.takenOf("org-0") + shares.takenOf("org-1")).toBe(shares.takenOf("all"));
      }
      for (const back of held) {
        back.done();
        back.done(); // a second call does nothing
      }
      for (const id of ["key-0", "key-1", "key-2", "key-3", "org-0", "org-1", "all"])
        expect(shares.takenOf(id)).toBe(0);
    }),
  );
});

test("the first share that is full is named; one without a limit never is", () => {
  const shares = new Shares();
  const of = [
    { of: "key", most: null },
    { of: "org", most: 2 },
    { of: "all", most: 2 },
  ];
  shares.take(of);
  shares.take(of);
  expect(shares.passed(of)?.of).toBe("org");
});

test("what is counted of each and of all together follows what is taken and given back; nobody gives back what is not taken", () => {
  const counts = new Counts();
  counts.add("a", 3);
  counts.add("b", 2);
  counts.add("a", -1);
  expect([counts.of("a"), counts.of("b"), counts.of("nobody"), counts.together]).toEqual([2, 2, 0, 4]);
  expect(() => counts.add("a", -3)).toThrow("than was taken");
  counts.add("a", -2);
  expect([counts.of("a"), counts.together]).toEqual([0, 2]);
  expect(() => counts.add("a", -1)).toThrow("than was taken");
  expect(counts.together).toBe(2);
});

test("more than was taken of a share is never given back", () => {
  const shares = new Shares();
  shares.add([{ of: "all", most: 2 }], 1);
  expect(() => shares.add([{ of: "all", most: 2 }], -2)).toThrow("than was taken");
  expect(shares.takenOf("all")).toBe(1);
});
