// Accounts, for whoever holds a management key: who is there, a way back in for somebody locked out, an invitation when
// there is nobody left to send one.
import type { Operator } from "../contract/operator.ts";
import { OperatorRefusal } from "../contract/admin-refusals.ts";
import { linkTo } from "../contract/links.ts";
import type { AuditNote } from "../contract/desk.ts";
import type { People } from "../contract/people.ts";
import { printList, printTime } from "./print.ts";

export interface AccountsPorts {
  people(): Promise<Pick<People, "persons" | "removeTwoFactor" | "resetToken">>;
  /** Where people reach the dashboard, without a slash at the end. */
  url(): string;
  note(note: AuditNote): Promise<void>;
}

export const accounts = (on: AccountsPorts): Operator["people"] => ({
  async list() {
    const persons = await (await on.people()).persons();
    return printList(
      persons.map((person) => ({
        id: person.id,
        name: person.name,
        email: person.email,
        operator: person.operator,
        two_factor: person.twoFactor,
        created_at: printTime(person.createdAtMs),
      })),
    );
  },
  async reset({ person: wanted, two_factor }, actor) {
    const people = await on.people();
    const found = (await people.persons()).find(
      ({ id, email }) => id === wanted || email === wanted.toLowerCase(),
    );
    const made = found === undefined ? null : await people.resetToken(found.id);
    if (found === undefined || made === null)
      throw new OperatorRefusal("not_found", "There is no record of this id.", "person");
    if (two_factor) await people.removeTwoFactor(found.id);
    const after = { two_factor_removed: two_factor };
    await on.note({ actor, action: "person.reset", organizationId: null, target: found.id, after });
    const link = linkTo("reset", { url: on.url(), token: made.token });
    return { email: found.email, link, expires_at: printTime(made.expiresAtMs) };
  },
});
