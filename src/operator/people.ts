// Accounts, for holders of a management key: who exists, a way back in for somebody locked out, an invitation
// if nobody is left to send one.
import type { PersonJson, ResetLinkJson } from "../api/shapes/records.ts";
import type { PersonRecordsQuery, ResetPerson } from "../api/shapes/record-inputs.ts";
import type { Actor } from "../domain/actor.ts";
import { notFound } from "../domain/unknown-record.ts";
import { linkTo } from "../domain/links.ts";
import type { People, Person } from "../people/people.ts";
import { RECORDS_MAX } from "../domain/page-rows.ts";
import { printTime } from "../domain/print.ts";
import { rowCursor } from "../reporting/cursors.ts";
import { type ListOf, pageById } from "./list.ts";

export interface AccountsPorts {
  people(): Promise<
    Pick<People, "accountsById" | "personNamed" | "persons" | "removeTwoFactor" | "resetToken" | "written">
  >;
  /** The dashboard's URL, without a trailing slash. */
  url(): string;
}

export const accounts = (on: AccountsPorts) => ({
  /** Ordered by id. Throws `Refusal` for a cursor that no page returned. */
  async list({ cursor, limit = RECORDS_MAX, search = "" }: PersonRecordsQuery): Promise<ListOf<PersonJson>> {
    const people = await on.people();
    const after = (await rowCursor(cursor, async (id) => (await people.persons([id])).length > 0)) ?? "";
    const persons = await people.accountsById({ after, search, most: limit + 1 });
    return pageById(persons.map(printPerson), limit);
  },
  /** A link that sets a new password, once; sessions end when it is used. */
  async reset({ person: wanted, two_factor }: ResetPerson, actor: Actor): Promise<ResetLinkJson> {
    const people = await on.people();
    const found = await people.personNamed(wanted);
    if (found === null) throw notFound("person");
    const after = { two_factor_removed: two_factor };
    const made = await people.written(
      async () => {
        const link = await people.resetToken(found.id, actor.id);
        if (link === null) throw notFound("person");
        if (two_factor) await people.removeTwoFactor(found.id);
        return link;
      },
      () => ({ actor, action: "person.reset", organizationId: null, target: found.id, after }),
    );
    const link = linkTo("reset", { url: on.url(), token: made.token });
    return { email: found.email, link, expires_at: printTime(made.expiresAtMs) };
  },
});

const printPerson = (person: Person): PersonJson => ({
  id: person.id,
  name: person.name,
  email: person.email,
  operator: person.operator,
  two_factor: person.twoFactor,
  created_at: printTime(person.createdAtMs),
});
