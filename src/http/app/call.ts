// One call of the dashboard's API as its handler sees it: who calls, in which organization, with what. Everything was
// checked before.
import type { Actor } from "../../contract/actor.ts";
import type { z } from "zod";
import type { APP_ROUTES, AppAnswer, AppRoute } from "../../contract/app.ts";
import { OperatorRefusal } from "../../contract/admin-refusals.ts";
import type { Person, SignedIn, Visitor } from "../../contract/people.ts";
import type { Standing } from "../../contract/roles.ts";

type BodyOf<R extends AppRoute> = (typeof APP_ROUTES)[R]["body"] extends infer Body extends z.ZodType
  ? z.output<Body>
  : undefined;
type ParamNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamNames<Rest>
  : never;

export interface Who {
  signedIn: SignedIn;
  /** Of the organization in the path; operators of `/operator`. */
  standing: Standing;
  /** `own`: only what this person made. */
  allowance: "all" | "own";
}

export interface Call<R extends AppRoute = AppRoute> {
  /** Null on open routes for those who are not signed in. */
  who: Who | null;
  params: Readonly<Record<ParamNames<R>, string>>;
  query: z.output<(typeof APP_ROUTES)[R]["query"]>;
  body: BodyOf<R>;
  visitor: Visitor;
  request: Request;
  requestId: string;
  receivedAtMs: number;
  idempotencyKey: string | null;
  /** Set on the answer. */
  cookies: string[];
  /** Seconds of silence after which the socket is closed; 0 = never. */
  setIdleTimeout(this: void, seconds: number): void;
}

export type Handler<R extends AppRoute> = (call: Call<R>) => Promise<AppAnswer<R> | Response>;
export type Handlers<R extends AppRoute = AppRoute> = { [Route in R]: Handler<Route> };

/** Who calls a route that is not open. */
export function callerOf({ who }: Pick<Call, "who">): Who {
  if (who === null) throw notSignedIn();
  return who;
}

export const personOf = (call: Pick<Call, "who">): Person => callerOf(call).signedIn.person;

/** For the audit log: who makes this change, and from where. `personId`: on an open route, whoever comes in by it. */
export const actorOf = (
  call: Pick<Call, "who" | "visitor" | "requestId">,
  personId: string = personOf(call).id,
): Actor => ({ id: personId, address: call.visitor.address, requestId: call.requestId });

export const notSignedIn = (): OperatorRefusal =>
  new OperatorRefusal("not_signed_in", "Sign in first: there is no session, or it has ended.");

/** The same answer for what does not exist and for what belongs to somebody else (hardening.md S7). */
export const notFound = (param: string): OperatorRefusal =>
  new OperatorRefusal("not_found", "There is no record of this id.", param);
