// What proves the account that a call is made with: its settings, what can be wrong with them, and the resulting
// headers. A kind of provider combines one of these with its wire shape; each is shared by several kinds.
import type { z } from "zod";
import type { Authorize } from "../codec.ts";
import type { Wrong } from "../setting.ts";

/** The receiver of the credentials. */
interface Recipient {
  /** The vendor's name, for people. */
  title: string;
  /** True if calls go to the vendor's own address, not to a stand-in. */
  atHome: boolean;
}

export interface Credentials<Own extends object = object> {
  readonly settings: z.ZodRawShape;
  /** The setting that most operators fill in. */
  readonly setting: string;
  /** True if the vendor's own address answers no calls without credentials. */
  readonly needed: boolean;
  given(own: Own): boolean;
  /** Returns a problem with settings that are well formed one by one. */
  wrong(own: Own, recipient: Recipient): Wrong | null;
  authorize(own: Own): Authorize;
}

type Described<Shape extends z.ZodRawShape> = Credentials<z.output<z.ZodObject<Shape>>> & {
  settings: Shape;
};

/** Credentials in the form that kinds take: they are only ever given what their own `settings` have parsed. */
export const credentials = <Shape extends z.ZodRawShape>(described: Described<Shape>): Credentials =>
  described;
