// The one answer for an id that names nothing.
import { OperatorRefusal } from "../contract/admin-refusals.ts";

type Noun =
  | "organization"
  | "key"
  | "entitlement"
  | "route"
  | "request"
  | "order"
  | "card"
  | "rule"
  | "channel"
  | "management_key"
  | "provider";

export const unknownRecord = (noun: Noun, id: string, param: string): OperatorRefusal =>
  new OperatorRefusal("not_found", `There is no ${noun.replace("_", " ")} ${JSON.stringify(id)}.`, param);
