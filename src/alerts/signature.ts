// Standard Webhooks signatures (standardwebhooks.com): HMAC-SHA256 over id, time and the exact body, with a
// secret that only the organization and this gateway know.
import { createHmac, randomBytes } from "node:crypto";

const PREFIX = "whsec_";

/** 24 random bytes, in the format of Standard Webhooks. */
export const newSigningSecret = (): string => `${PREFIX}${randomBytes(24).toString("base64")}`;

/** The three headers of one try; the id stays the same, the time is the time of the try. */
export function signedHeaders(
  secret: string,
  message: { id: string; body: string; nowMs: number },
): Record<string, string> {
  const timestamp = String(Math.floor(message.nowMs / 1000));
  const key = Buffer.from(secret.slice(PREFIX.length), "base64");
  const signature = createHmac("sha256", key)
    .update(`${message.id}.${timestamp}.${message.body}`)
    .digest("base64");
  return {
    "webhook-id": message.id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${signature}`,
  };
}
