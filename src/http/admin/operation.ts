// One operation of the operator API: where it is, who may call it, what it takes and answers, what it leaves in the
// audit log (S8). Everything that arrives is checked here; use-cases see only values that passed their schema.
import type { Actor } from "../../contract/actor.ts";
import type { z } from "zod";
import { noInput } from "../../contract/admin-input.ts";
import { OperatorRefusal } from "../../contract/admin-refusals.ts";
import type { Operator } from "../../contract/operator.ts";
import { firstPath, readFields } from "../read-fields.ts";

type Fields = z.ZodObject;

/** What arrived, unchecked. */
export interface Arrived {
  params: unknown;
  query: unknown;
  body: unknown;
}

export interface Operation {
  method: "get" | "post";
  /** Below `/admin/v1`, with `{name}` for parameters. */
  path: string;
  summary: string;
  noun: keyof Operator;
  door: "management";
  /** The least role that may do it. A management key is an operator. */
  role: "operator";
  /** The action's name in the audit log; null for reading. */
  audit: string | null;
  input: { params: Fields; query: Fields; body: Fields | null };
  status: 200 | 201;
  output: z.ZodType;
  /** Checks the input and does it. Throws `Refusal` or `OperatorRefusal`. */
  perform(operator: Operator, arrived: Arrived, actor: Actor): Promise<unknown>;
}

interface Declared<
  Params extends Fields,
  Query extends Fields,
  Body extends Fields,
  Output extends z.ZodType,
> {
  summary: string;
  noun: keyof Operator;
  audit: string | null;
  params?: Params;
  query?: Query;
  body?: Body;
  status?: Operation["status"];
  output: Output;
  run: (
    operator: Operator,
    input: { params: z.output<Params>; query: z.output<Query>; body: z.output<Body> },
    actor: Actor,
  ) => Promise<z.output<Output>>;
}

type Nothing = typeof noInput;

/** Declares the operation at a target such as `POST /keys/{key}/revoke`; the types of `run` follow from its schemas. */
export function operation<
  Output extends z.ZodType,
  Params extends Fields = Nothing,
  Query extends Fields = Nothing,
  Body extends Fields = Nothing,
>(target: `${"GET" | "POST"} /${string}`, declared: Declared<Params, Query, Body, Output>): Operation {
  const { summary, noun, audit, output, run } = declared;
  const params = declared.params ?? (noInput as unknown as Params);
  const query = declared.query ?? (noInput as unknown as Query);
  const body = declared.body ?? (noInput as unknown as Body);
  return {
    method: target.startsWith("GET ") ? "get" : "post",
    path: target.slice(target.indexOf("/")),
    summary,
    noun,
    audit,
    output,
    door: "management",
    role: "operator",
    input: { params, query, body: declared.body ?? null },
    status: declared.status ?? 200,
    perform: (operator, arrived, actor) => {
      const input = {
        params: readParams(params, arrived.params),
        query: readFields(query, arrived.query),
        body: readFields(body, arrived.body),
      };
      return run(operator, input, actor);
    },
  };
}

/** An id that cannot be one names nothing: the same 404 as for one that was made up. */
function readParams<Schema extends Fields>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new OperatorRefusal("not_found", "There is no record of this id.", firstPath(result.error.issues[0]));
}
