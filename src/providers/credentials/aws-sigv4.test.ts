import { expect, test } from "bun:test";
import { awsSigner } from "./aws-sigv4.ts";

/** The key, scope and time of AWS' own test suite for Signature Version 4. */
const KEY = {
  accessKeyId: "AKIDEXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
  sessionToken: null,
};
const SCOPE = { region: "us-east-1", service: "service" };
const AT_MS = Date.UTC(2015, 7, 30, 12, 36, 0);

const signed = (method: "GET" | "POST", path: string, rest: { body?: string; headers?: object } = {}) =>
  awsSigner(KEY, SCOPE)(
    { url: `https://example.amazonaws.com${path}`, method, headers: {}, ...rest } as never,
    AT_MS,
  );
const signatureOf = (headers: Record<string, string>): string =>
  headers["authorization"]?.split("Signature=")[1] ?? "";

test.each([
  ["get-vanilla", "GET", "/", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"],
  ["post-vanilla", "POST", "/", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"],
  [
    "get-vanilla-query-order-key-case",
    "GET",
    "/?Param2=value2&Param1=value1",
    "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
  ],
] as const)("AWS' own case %s", (_, method, path, signature) => {
  const headers = signed(method, path);
  expect(headers).toEqual({
    "x-amz-date": "20150830T123600Z",
    authorization: `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=${signature}`,
  });
});

test("AWS' own case post-x-www-form-urlencoded: the type and the exact body are signed", () => {
  const headers = { "content-type": "application/x-www-form-urlencoded", accept: "*/*" };
  const made = signed("POST", "/", { headers, body: "Param1=value1" });
  expect(made["authorization"]).toContain("SignedHeaders=content-type;host;x-amz-date, ");
  expect(signatureOf(made)).toBe("ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a");
  const other = signed("POST", "/", { headers, body: "Param1=value2" });
  expect(signatureOf(other)).not.toBe(signatureOf(made));
});

test("a session's token is signed with the rest", () => {
  const sign = awsSigner({ ...KEY, sessionToken: "token-1" }, SCOPE);
  const headers = sign({ url: "https://example.amazonaws.com/", method: "GET", headers: {} }, AT_MS);
  expect(headers["x-amz-security-token"]).toBe("token-1");
  expect(headers["authorization"]).toContain("SignedHeaders=host;x-amz-date;x-amz-security-token, ");
});

test("the day's key follows the day, and a port belongs to the host", () => {
  const sign = awsSigner(KEY, SCOPE);
  const at = {
    url: "http://127.0.0.1:9101/model/a%3A0/converse",
    method: "POST",
    headers: {},
    body: "{}",
  } as const;
  const day = sign(at, AT_MS);
  const nextDayMs = AT_MS + 86_400_000;
  expect(sign(at, nextDayMs)["authorization"]).toContain("/20150831/");
  expect(sign(at, nextDayMs)).toEqual(awsSigner(KEY, SCOPE)(at, nextDayMs));
  expect(sign(at, AT_MS)).toEqual(day);
  expect(sign({ ...at, url: at.url.replace(":9101", "") }, AT_MS)).not.toEqual(day);
});

test("a path is signed as it would be encoded once more than it is sent: a model may be an ARN", () => {
  const url = "https://bedrock-runtime.us-east-1.amazonaws.com/model/arn%3Aaws%3Abedrock/converse";
  const headers = { "content-type": "application/json" };
  const sign = awsSigner(KEY, { region: "us-east-1", service: "bedrock" });
  // Computed by another program, with /model/arn%253Aaws%253Abedrock/converse as its path.
  expect(signatureOf(sign({ url, method: "POST", headers, body: "{}" }, AT_MS))).toBe(
    "c70c9e6c78329aebb90bc1f326423d292566db46bd4ec5a7a576471469530efb",
  );
});
