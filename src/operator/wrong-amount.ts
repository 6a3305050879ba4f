// A refused amount, with its input field.
import { Refusal } from "../domain/refusals.ts";

export const wrongAmount = (param: string, message: string): Refusal =>
  new Refusal("invalid_request", `${param} ${message}.`, { param });
