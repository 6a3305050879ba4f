// What the settings of providers have in common.
import { z } from "zod";

/** A well-formed setting that cannot work, and what to do about it. */
export interface Wrong {
  /** Its name among the provider's settings. */
  setting: string;
  message: string;
}

/** A secret that is sent in a header. One that no header can carry was copied wrongly. */
export const secretText = z
  .string()
  .min(1, "must not be empty")
  .regex(/^[ -~]+$/, "contains a line break or a character that a header cannot carry; copy it again")
  .optional()
  .describe("Write it as ${NAME}, so that it stays out of the file.");
