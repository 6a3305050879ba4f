// What the simulated model signs its reasoning with, so that a text which is not its own is refused as the vendor refuses it.
import { createHmac } from "node:crypto";

const KEY = "the simulated model";

export const simulatedSignature = (text: string): string =>
  createHmac("sha256", KEY).update(text).digest("base64");

export const isSignedText = (text: string, signature: string | undefined): boolean =>
  signature === simulatedSignature(text);
