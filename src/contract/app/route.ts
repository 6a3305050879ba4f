// What one route of `/app/v1` declares (S8): who may call it, what it takes, what it answers, what it leaves in the
// audit log.
import type { z } from "zod";
import type { Action } from "../roles.ts";
import { nothing } from "./shapes.ts";

/** `open`: everybody; `signed_in`: any person; else the action, of the organization in the path or of operators. */
export type Admission = "open" | "signed_in" | Action;
type Fields = z.ZodObject;

export interface RouteShape {
  may: Admission;
  query: Fields;
  /** Null where nothing is sent. */
  body: Fields | null;
  output: z.ZodType;
  status: 200 | 201;
  /** `json`, or what a browser downloads or reads as it comes. */
  answer: "json" | "csv" | "events" | "completion";
  /** The action's name in the audit log; null for reading. */
  audit: string | null;
  /** `payments` serves it; the app answers `not_configured` without it. */
  by: "app" | "payments";
}

const read = <Output extends z.ZodType, Query extends Fields = typeof nothing>(
  may: Admission,
  output: Output,
  query: Query = nothing as unknown as Query,
) => ({ may, query, body: null, output, status: 200, answer: "json", audit: null, by: "app" }) as const;

const change = <Output extends z.ZodType, Body extends Fields = typeof nothing>(
  may: Admission,
  audit: string | null,
  output: Output,
  body: Body = nothing as unknown as Body,
) => ({ may, query: nothing, body, output, status: 200, answer: "json", audit, by: "app" }) as const;

/** The declaration with some of it said differently. */
const as = <Shape extends object, Changed extends object>(
  shape: Shape,
  changed: Changed,
): Omit<Shape, keyof Changed> & Changed => ({ ...shape, ...changed });

export { as, change, read };
