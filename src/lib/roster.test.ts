import { expect, test } from "bun:test";
import { type Member, Register, Roster } from "./roster.ts";

class Guest implements Member {
  rosterPlace = -1;
  constructor(readonly name: string) {}
}

const names = (roster: Roster<Guest>): string[] =>
  roster
    .all()
    .map(({ name }) => name)
    .toSorted();

test("a member stays until it is deleted, whatever happens to the others", () => {
  const roster = new Roster<Guest>();
  const guests = ["a", "b", "c", "d", "e", "f"].map((name) => new Guest(name));
  for (const guest of guests) roster.add(guest);
  const [a, b, c, d, e, f] = guests;
  for (const gone of [a, f, c]) expect(gone !== undefined && roster.delete(gone)).toBe(true);
  expect(names(roster)).toEqual(["b", "d", "e"]);
  expect(guests.map((guest) => roster.has(guest))).toEqual([false, true, false, true, true, false]);
  for (const left of [b, d, e]) if (left !== undefined) roster.delete(left);
  expect(roster.size).toBe(0);
});

test("adding twice keeps one, deleting twice keeps the others, and a member can be added again", () => {
  const roster = new Roster<Guest>();
  const [twice, other] = [new Guest("twice"), new Guest("other")];
  roster.add(twice);
  roster.add(other);
  roster.add(twice);
  expect(roster.size).toBe(2);
  expect(roster.delete(twice)).toBe(true);
  expect(roster.delete(twice)).toBe(false);
  expect(names(roster)).toEqual(["other"]);
  roster.add(twice);
  expect(names(roster)).toEqual(["other", "twice"]);
});

test("a member of another roster is not one of this", () => {
  const [here, there] = [new Roster<Guest>(), new Roster<Guest>()];
  const [mine, theirs] = [new Guest("mine"), new Guest("theirs")];
  here.add(mine);
  there.add(theirs);
  expect(here.has(theirs)).toBe(false);
  expect(here.delete(theirs)).toBe(false);
  expect(names(here)).toEqual(["mine"]);
});

test("a snapshot has all present members, though they leave one by one", () => {
  const roster = new Roster<Guest>();
  for (const name of ["a", "b", "c", "d"]) roster.add(new Guest(name));
  const met: string[] = [];
  for (const guest of roster.all()) {
    met.push(guest.name);
    roster.delete(guest);
  }
  expect(met.toSorted()).toEqual(["a", "b", "c", "d"]);
  expect(roster.size).toBe(0);
});

test("a register finds the last value set for an id, and nothing that was removed", () => {
  const register = new Register<string, { of: number }>();
  register.set("a", { of: 1 });
  register.set("b", { of: 2 });
  register.set("a", { of: 3 });
  expect(register.take("b")).toEqual({ of: 2 });
  expect(register.take("never")).toBeUndefined();
  expect(register.get("a")).toEqual({ of: 3 });
  expect(register.get("b")).toBeUndefined();
  expect([register.has("a"), register.has("b"), register.size]).toEqual([true, false, 1]);
  expect(register.takeAll()).toEqual([{ of: 3 }]);
  expect(register.size).toBe(0);
});

test("what was removed from a roster or a register is not retained by later members", () => {
  const { stdout } = Bun.spawnSync([
    process.execPath,
    `${import.meta.dir}/../../test/support/roster-heap.ts`,
  ]);
  const { passed, ofRoster, ofRegister } = JSON.parse(stdout.toString()) as Record<string, number>;
  // A `Set` keeps almost half of them alive.
  expect(ofRoster).toBeLessThan((passed ?? 0) / 4);
  expect(ofRegister).toBeLessThan((passed ?? 0) / 4);
}, 120_000);
