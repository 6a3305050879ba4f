// What settings of providers have in common.
import { z } from "zod";

/** A setting that is well formed and cannot work, and what to do about it. */
export interface Wrong {
  /** Its name among the provider's settings. */
  setting: string;
  message: string;
}

/** A secret that goes into a header: what no header can carry was copied wrongly. */
export const secretText = z
  .string()
  .min(1, "must not be empty")
  .regex(/^[ -~]+$/, "has a line end, or a character that no header carries: copy it again")
  .optional()
  .describe("Write it as ${NAME}, so that it stays out of the file.");
