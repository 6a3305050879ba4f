// Who operates the gateway. There is always an operator: nobody can take the role from themselves, and if two
// take it from each other, the second no longer has the role to do so.
import { OperatorRefusal } from "../domain/operator-refusals.ts";
import { notFound } from "../domain/unknown-record.ts";
import type { People } from "./people.ts";
import { LOST, OPERATORS, UNASKED } from "./authority.ts";
import type { PeopleStore } from "./store.ts";

type Store = Pick<PeopleStore, "change" | "locking" | "rows">;

/** One statement, so that two operators who remove each other at the same time do not both succeed. */
export function operators(
  store: Store,
  endSessions: (personId: string) => Promise<unknown>,
): Pick<People, "removeOperator"> {
  // Locks all operators until the end, in one order on every gateway.
  const removal = `WITH operators AS (
      SELECT id FROM "user" WHERE "operator" = TRUE ORDER BY id ${store.locking}
    ) UPDATE "user" SET "operator" = FALSE WHERE id = ?1 AND "operator" = TRUE
      AND (SELECT count(*) FROM operators WHERE id IN (?1, ?2)) = 2`;
  return {
    async removeOperator(personId, by) {
      if (personId === by)
        throw new OperatorRefusal(
          "conflict",
          "You cannot remove your own operator role. Another operator has to do it.",
          "person",
        );
      if ((await store.change(removal, personId, by)) === 0) {
        const [acting] = await store.rows(`SELECT 1 FROM "user" WHERE id = ?1 AND "operator" = TRUE`, by);
        if (acting !== undefined) throw notFound("person");
        throw new OperatorRefusal("role_not_permitted", "You are no longer an operator.");
      }
      await endSessions(personId);
      await store.change(LOST, personId);
      await store.change(UNASKED, OPERATORS, personId);
    },
  };
}
