// Signs one request with AWS Signature Version 4, in headers: over its method, path, query, host, content type and
// exact body.
import { createHash, createHmac } from "node:crypto";
import { printTime } from "../../domain/print.ts";
import type { Outgoing } from "../codec.ts";

export interface AwsKey {
  accessKeyId: string;
  secretAccessKey: string;
  /** Set for temporary credentials; null = none. */
  sessionToken: string | null;
}

/** The scope in which a signature is valid. */
export interface AwsScope {
  region: string;
  /** The service name in the signature: `bedrock` for both hosts of Bedrock. */
  service: string;
}

const sha256 = (text: string | Uint8Array): string => createHash("sha256").update(text).digest("hex");
const hmac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();

/** The signing key of one day, used by every signature of that day. */
interface DayKey {
  day: string;
  key: Buffer;
}

/** Returns a signer of requests with one key for one scope. */
export function awsSigner(
  { accessKeyId, secretAccessKey, sessionToken }: AwsKey,
  { region, service }: AwsScope,
) {
  let dayKey: DayKey | null = null;
  const keyOf = (day: string): Buffer => {
    if (dayKey?.day !== day)
      dayKey = {
        day,
        key: hmac(hmac(hmac(hmac(`AWS4${secretAccessKey}`, day), region), service), "aws4_request"),
      };
    return dayKey.key;
  };
  return ({ url, method, headers, body = "" }: Outgoing, nowMs = Date.now()): Record<string, string> => {
    const at = new URL(url);
    const time = `${printTime(nowMs).slice(0, 19).replaceAll(/[-:]/g, "")}Z`;
    const scope = `${time.slice(0, 8)}/${region}/${service}/aws4_request`;
    const contentType = headers["content-type"];
    const own = {
      "x-amz-date": time,
      ...(sessionToken !== null && { "x-amz-security-token": sessionToken }),
    };
    const signed = Object.entries({
      ...(contentType !== undefined && { "content-type": contentType }),
      host: at.host,
      ...own,
    }).toSorted(([a], [b]) => (a < b ? -1 : 1));
    const names = signed.map(([name]) => name).join(";");
    const request = [
      method,
      pathOf(at),
      queryOf(at),
      ...signed.map(([name, value]) => `${name}:${value.trim().replaceAll(/ +/g, " ")}`),
      "",
      names,
      sha256(body),
    ].join("\n");
    const text = ["AWS4-HMAC-SHA256", time, scope, sha256(request)].join("\n");
    const signature = hmac(keyOf(time.slice(0, 8)), text).toString("hex");
    return {
      ...own,
      authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
    };
  };
}

const encoded = (text: string): string =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** Each segment is encoded once more than it is sent; only S3 differs. */
const pathOf = ({ pathname }: URL): string => pathname.split("/").map(encoded).join("/");

const queryOf = ({ searchParams }: URL): string =>
  [...searchParams]
    .map(([name, value]) => [encoded(name), encoded(value)] as const)
    .toSorted(([a, x], [b, y]) => (a === b ? compare(x, y) : compare(a, b)))
    .map(([name, value]) => `${name}=${value}`)
    .join("&");

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
