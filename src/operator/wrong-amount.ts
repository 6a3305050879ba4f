// An amount that is refused, with the field that says it.
import { Refusal } from "../domain/refusals.ts";

export const wrongAmount = (param: string, message: string): Refusal =>
  new Refusal("invalid_request", `${param} ${message}.`, { param });
