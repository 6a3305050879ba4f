// The answers for an id that names nothing.
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

/** `param`: what the caller names it by; null where he names none. */
export const unknownRecord = (noun: Noun, id: string, param: string | null): OperatorRefusal =>
  new OperatorRefusal("not_found", `There is no ${noun.replace("_", " ")} ${JSON.stringify(id)}.`, param);

/** A refusal or a replay has an id, too, and no charge. */
export const noHoldOf = (id: string, param: string): OperatorRefusal =>
  new OperatorRefusal("not_found", `No request with the id ${JSON.stringify(id)} held credits.`, param);

/** The same answer for what does not exist and for what belongs to somebody else (hardening.md S7). `param` as above. */
export const notFound = (param: string | null): OperatorRefusal =>
  new OperatorRefusal("not_found", "There is no record with this id.", param);
