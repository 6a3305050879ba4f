// Reads what arrived into an endpoint's input: the fields of its path, and those of the query (of a GET) or the body.
import { z } from "zod";
import { pathFields, type Target } from "../../api/target.ts";
import { Refusal } from "../../domain/refusals.ts";
import { notFound } from "../../domain/unknown-record.ts";
import { readFields } from "../read-fields.ts";

type Fields = Readonly<Record<string, unknown>>;
const NOTHING = z.strictObject({});

/** An id of an impossible form gets the same 404 as one that does not exist. */
export function checkPath(input: z.ZodObject, params: Fields): void {
  for (const [name, value] of Object.entries(params))
    if (input.shape[name]?.safeParse(value).success !== true) throw notFound(name);
}

/** The input as its schema reads it. Throws `Refusal` for the first offending field, such as one that the path already has. */
export function readInput<I extends z.ZodObject>(
  input: I,
  { params, query, body }: { params: Fields; query: Fields; body: unknown },
): z.output<I> {
  if (body !== undefined) readFields(NOTHING, query);
  const sent = body === undefined ? query : body;
  if (typeof sent !== "object" || sent === null || Array.isArray(sent)) return readFields(input, sent);
  for (const name of Object.keys(params))
    if (Object.hasOwn(sent, name))
      throw new Refusal("unknown_parameter", `There is no field ${JSON.stringify(name)} here.`, {
        param: name,
      });
  return readFields(input, { ...params, ...sent });
}

/** The part of the input that is not in the path; stored answers are identified by it. */
export function besidesPath(target: Target, input: Fields): Fields {
  const carried = new Set(pathFields(target));
  return Object.fromEntries(Object.entries(input).filter(([name]) => !carried.has(name)));
}
