// People while their database is away. The sign-in library makes failures of its own out of it, without their cause, so
// it is the database that is asked: who called is told to come back, and no bug is reported.
import { OperatorRefusal } from "../domain/operator-refusals.ts";
import { overloaded } from "../domain/overloaded.ts";
import type { People } from "./people.ts";
import { Refusal } from "../domain/refusals.ts";
import type { PeopleStore } from "./store.ts";

type Asked = (...given: unknown[]) => Promise<unknown>;

/** The same people; what fails because their database is away is refused as `overloaded`. */
export function refusingWhileAway(people: People, store: PeopleStore): People {
  const { answers, ...others } = people;
  return {
    ...refusing(others, store),
    answers: refusing(answers, store),
    ways: () => people.ways(), // asks nobody
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
