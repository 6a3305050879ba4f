// The simulated model signs its reasoning with this, so that a text that is not its own is rejected as the vendor
// rejects it.
import { createHmac } from "node:crypto";

const KEY = "the simulated model";

export const simulatedSignature = (text: string): string =>
  createHmac("sha256", KEY).update(text).digest("base64");

export const isSignedText = (text: string, signature: string | undefined): boolean =>
  signature === simulatedSignature(text);
