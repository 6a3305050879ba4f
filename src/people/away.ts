// Handles an unreachable database of people. The sign-in library turns such failures into errors of its own
// without the cause, so the database itself is asked: the caller is told to retry, and no bug is reported.
import { OperatorRefusal } from "../domain/operator-refusals.ts";
import { overloaded } from "../domain/overloaded.ts";
import type { People } from "./people.ts";
import { Refusal } from "../domain/refusals.ts";
import type { PeopleStore } from "./store.ts";

type Asked = (...given: unknown[]) => Promise<unknown>;

/** Wraps people so that failures caused by an unreachable database are refused as `overloaded`. */
export function refusingWhileAway(people: People, store: PeopleStore): People {
  const { answers, ...others } = people;
  return {
    ...refusing(others, store),
    answers: refusing(answers, store),
    ways: () => people.ways(), // asks no database
  };
}

function refusing<Asking extends object>(asking: Asking, store: PeopleStore): Asking {
  const members = Object.entries(asking) as [string, Asked][];
  const refuse = (asked: Asked): Asked => {
    return (...given) => answered(store, () => asked.apply(asking, given));
  };
  return Object.fromEntries(members.map(([name, asked]) => [name, refuse(asked)])) as Asking;
}

async function answered(store: PeopleStore, ask: () => Promise<unknown>): Promise<unknown> {
  const losses = store.losses();
  const wasAway = async (): Promise<boolean> => store.losses() > losses || (await store.away());
  let answer: unknown;
  try {
    answer = await ask();
  } catch (error) {
    const refused = error instanceof Refusal || error instanceof OperatorRefusal;
    throw !refused && (await wasAway()) ? overloaded() : error;
  }
  if (answer instanceof Response && answer.status >= 500 && (await wasAway())) throw overloaded();
  return answer;
}
