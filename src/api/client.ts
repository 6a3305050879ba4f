// The types of an endpoint for its callers, by target: what to send, what comes back. Types only; the
// dashboard, the command line and the tests import theirs from here.
import type { z } from "zod";
import type { EndpointAt, TargetOf } from "./endpoints.ts";
import type { KeyTarget, PathField, SessionTarget } from "./target.ts";

/** The input of an endpoint, including the fields of its path. */
export type Input<T extends TargetOf> = z.input<EndpointAt<T>["input"]>;
/** The output of an endpoint; text if it is not JSON. */
export type Answer<T extends TargetOf> = EndpointAt<T>["output"] extends infer O extends z.ZodType
  ? z.output<O>
  : string;

/** A target of the operator API. */
export type AdminTarget = Extract<TargetOf, KeyTarget>;

type Below<T> = T extends `${infer Method} /app/v1${infer Path}` ? `${Method} ${Path}` : never;
type At<R> = R extends `${infer Method} ${infer Path}`
  ? Extract<TargetOf, `${Method} /app/v1${Path}`>
  : never;
/** A target of the dashboard, below `/app/v1`. */
export type AppRoute = Below<Extract<TargetOf, SessionTarget>>;
export type AppAnswer<R extends AppRoute> = Answer<At<R>>;
/** The fields of a request's body. */
export type AppBody<R extends AppRoute> = Omit<Input<At<R>>, PathField<R>>;
/** The fields of a request's query. */
export type AppQuery<R extends AppRoute> = R extends `GET ${string}`
  ? Omit<Input<At<R>>, PathField<R>>
  : object;
