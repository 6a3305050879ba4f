// Counts what rosters and registers leave in the heap, in a separate process, because when the collector runs depends
// on everything else in the heap. Prints how many of the added things are left.
import { heapStats } from "bun:jsc";
import { type Member, Register, Roster } from "../../src/lib/roster.ts";

const PASSING = 40_000;
const AT_ONCE = 64;

/** How many of `PASSING` things, added and removed 64 at a time, are still in the heap before a full collection. */
async function leftInHeap(into: {
  add(id: number, thing: Thing): void;
  drop(id: number, thing: Thing): void;
}) {
  const countedBefore = left();
  const inside: Thing[] = [];
  for (let id = 0; id < PASSING; id += 1) {
    const thing = new Thing();
    into.add(id, thing);
    const first = inside[id % AT_ONCE];
    if (first !== undefined) into.drop(id - AT_ONCE, first);
    inside[id % AT_ONCE] = thing;
    litter();
    if (id % AT_ONCE === 0) await new Promise(setImmediate);
  }
  return left() - countedBefore;
}

/** A class that nothing else here uses. */
class Thing implements Member {
  rosterPlace = -1;
  readonly mark = new DataView(new ArrayBuffer(8));
}

const left = (): number => heapStats().objectTypeCounts["DataView"] ?? 0;

const litter = (): unknown => Array.from({ length: 300 }, (_, index) => ({ index, text: `text ${index}` }));

const roster = new Roster<Thing>();
const register = new Register<number, Thing>();
const ofRoster = await leftInHeap({
  add: (_id, thing) => roster.add(thing),
  drop: (_id, thing) => roster.delete(thing),
});
const ofRegister = await leftInHeap({
  add: (id, thing) => register.set(id, thing),
  drop: (id) => register.take(id),
});
console.log(JSON.stringify({ passed: PASSING, ofRoster, ofRegister }));
