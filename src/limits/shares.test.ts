import { expect, test } from "bun:test";
import fc from "fast-check";
import { Shares, type TakenShares } from "./shares.ts";

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
        back.done(); // a second time does nothing
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
