// Refusals for an id that names nothing.
import { OperatorRefusal } from "./operator-refusals.ts";

type Noun =
  | "organization"
  | "key"
  | "entitlement"
  | "route"
  | "request"
  | "order"
  | "rule"
  | "channel"
  | "delivery"
  | "management_key"
  | "provider";

/** `param`: the parameter in which the caller named it; null if there is none. */
export const unknownRecord = (noun: Noun, id: string, param: string | null): OperatorRefusal =>
  new OperatorRefusal("not_found", `There is no ${noun.replace("_", " ")} ${JSON.stringify(id)}.`, param);

/** Refused requests and replays have an id, too, but no charge. */
export const noHoldOf = (id: string, param: string): OperatorRefusal =>
  new OperatorRefusal("not_found", `No request with the id ${JSON.stringify(id)} held credits.`, param);

/** The same answer for a record that does not exist and one that belongs to somebody else (hardening.md S7). `param` as above. */
export const notFound = (param: string | null): OperatorRefusal =>
  new OperatorRefusal("not_found", "There is no record with this id.", param);
