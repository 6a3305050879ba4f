// What proves whose account a call is made with: its settings, what can be wrong with them, and the headers that follow.
// A kind of provider takes one of these beside its wire shape; several kinds share each.
import type { z } from "zod";
import type { Authorize } from "../codec.ts";
import type { Wrong } from "../setting.ts";

/** Whom the credentials are for. */
interface Recipient {
  /** The vendor's name, for people. */
  title: string;
  /** Calls go to the vendor's own address, and not to something that stands in for it. */
  atHome: boolean;
}

export interface Credentials<Own extends object = object> {
  readonly settings: z.ZodRawShape;
  /** The setting that most people fill. */
  readonly setting: string;
  /** The vendor's own address answers nobody without. */
  readonly needed: boolean;
  given(own: Own): boolean;
  /** What is wrong with settings that are each well formed. */
  wrong(own: Own, recipient: Recipient): Wrong | null;
  authorize(own: Own): Authorize;
}

type Described<Shape extends z.ZodRawShape> = Credentials<z.output<z.ZodObject<Shape>>> & {
  settings: Shape;
};

/** Credentials as kinds take them: only what their own `settings` have read is ever handed to them. */
export const credentials = <Shape extends z.ZodRawShape>(described: Described<Shape>): Credentials =>
  described;
