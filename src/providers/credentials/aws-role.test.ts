// Credentials of a role, from loopback doubles of the three places where AWS issues them.
import { afterAll, afterEach, expect, mock, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { reads } from "../../../test/support/wait.ts";
import type { Authorize } from "../codec.ts";
import type { Failure } from "../failure.ts";
import { failureOf } from "../openai/openai.fixtures.ts";
import { type AwsRole, assumeRole, awsRole } from "./aws-role.ts";
import { awsCredentials } from "./aws.ts";
import { passes } from "./credentials.fixtures.ts";

const directory = mkdtempSync(join(tmpdir(), "tollgate-role-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
afterEach(() => mock.restore());
const MINUTE_MS = 60_000;
const TOKEN_FILE = join(directory, "token");

const ID = "ASIAEXAMPLE123456789";
const SECRET = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
const ARN = "arn:aws:iam::123456789012:role/gateway";
const inSeconds = (seconds: number): string => new Date(Date.now() + seconds * 1000).toISOString();

const keys = (change: Record<string, unknown> = {}): Record<string, unknown> => ({
  AccessKeyId: ID,
  SecretAccessKey: SECRET,
  Token: "session-token-1",
  Expiration: inSeconds(3600),
  ...change,
});
const xml = (change: Record<string, unknown> = {}): string => {
  const { Token, ...rest } = keys(change);
  const leaves = Object.entries({ ...rest, SessionToken: Token }).map(
    ([name, value]) => `<${name}>${String(value)}</${name}>`,
  );
  return `<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials>\n${leaves.join("\n")}\n</Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`;
};

interface Asked {
  method: string;
  path: string;
  headers: Headers;
  body: string;
}
interface Double extends AsyncDisposable {
  url: string;
  asked: Asked[];
}
function startDouble(answer: (asked: Asked, nth: number) => Response | Promise<Response>): Double {
  const all: Asked[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const asked = {
        method: request.method,
        path: new URL(request.url).pathname,
        headers: request.headers,
        body: await request.text(),
      };
      all.push(asked);
      return await answer(asked, all.length);
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    asked: all,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

/** An EC2 machine that answers only requests with a session token. */
const machine = (told: () => Response, role = (): Response => new Response("gateway-role\n")) =>
  startDouble(({ method, path, headers }) => {
    if (method === "PUT" && path === "/latest/api/token")
      return headers.get("x-aws-ec2-metadata-token-ttl-seconds") === null
        ? new Response("", { status: 400 })
        : new Response("session-1\n");
    if (headers.get("x-aws-ec2-metadata-token") !== "session-1") return new Response("", { status: 401 });
    if (path === "/latest/meta-data/iam/security-credentials/") return role();
    if (path === "/latest/meta-data/iam/security-credentials/gateway-role") return told();
    return new Response("", { status: 404 });
  });

const roleAt = (from: AwsRole["from"], url: string): AwsRole => {
  if (from === "container") return awsRole.parse({ from, uri: `${url}/creds`, token: "token-of-container" });
  if (from === "web_identity")
    return awsRole.parse({ from, role_arn: ARN, token_file: TOKEN_FILE, url: `${url}/` });
  return awsRole.parse({ from, url });
};
const signing = (role: AwsRole): Authorize =>
  awsCredentials("bedrock").authorize({ region: "eu-central-1", role });
const CALL = {
  url: "https://bedrock-runtime.eu-central-1.amazonaws.com/model/m/converse",
  method: "POST",
  headers: {},
  body: "{}",
} as const;
const { signal } = new AbortController();
const proofOf = async (authorize: Authorize): Promise<Record<string, string>> =>
  await authorize(CALL, signal);

test("a container's endpoint: its token in the header, read anew at each renewal; the keys sign", async () => {
  await using double = startDouble((_, nth) => Response.json(keys({ Token: `session-token-${nth}` })));
  writeFileSync(TOKEN_FILE, "first-token\n");
  const authorize = signing(
    awsRole.parse({ from: "container", uri: `${double.url}/v1/credentials`, token_file: TOKEN_FILE }),
  );
  const first = await proofOf(authorize);
  expect(first).toMatchObject({ "x-amz-security-token": "session-token-1" });
  expect(first["authorization"]).toMatch(
    new RegExp(
      `Credential=${ID}/\\d{8}/eu-central-1/bedrock/aws4_request, SignedHeaders=host;x-amz-date;x-amz-sec`,
    ),
  );
  writeFileSync(TOKEN_FILE, "second-token");
  passes(60 * MINUTE_MS);
  expect(await proofOf(authorize)).toMatchObject({ "x-amz-security-token": "session-token-2" });
  expect(
    double.asked.map(({ method, path, headers }) => [method, path, headers.get("authorization")]),
  ).toEqual([
    ["GET", "/v1/credentials", "first-token"],
    ["GET", "/v1/credentials", "second-token"],
  ]);
});

test("a container's endpoint that asks for no token is shown none", async () => {
  await using double = startDouble(() => Response.json(keys()));
  await proofOf(signing(awsRole.parse({ from: "container", uri: double.url })));
  expect(double.asked[0]?.headers.get("authorization")).toBeNull();
});

test("a web identity is exchanged at STS, by its file", async () => {
  await using double = startDouble(() => new Response(xml()));
  writeFileSync(TOKEN_FILE, "eyJ.signed.token\n");
  const proof = await proofOf(signing(roleAt("web_identity", double.url)));
  expect(proof).toMatchObject({ "x-amz-security-token": "session-token-1" });
  const [asked] = double.asked;
  expect(Object.fromEntries(new URLSearchParams(asked?.body))).toEqual({
    Action: "AssumeRoleWithWebIdentity",
    Version: "2011-06-15",
    RoleArn: ARN,
    RoleSessionName: "tollgate",
    WebIdentityToken: "eyJ.signed.token",
  });
});

test("a machine's profile: a session first, then its role's name, then its keys", async () => {
  await using double = machine(() => Response.json({ Code: "Success", ...keys() }));
  expect(await proofOf(signing(roleAt("instance", double.url)))).toMatchObject({
    "x-amz-security-token": "session-token-1",
  });
  expect(double.asked.map(({ method }) => method)).toEqual(["PUT", "GET", "GET"]);
});

test("calls that arrive together share one renewal; the next ones sign at once; before the end it is renewed beside them", async () => {
  const gate = Promise.withResolvers<void>();
  await using double = startDouble(async (_, nth) => {
    if (nth === 2) await gate.promise;
    return Response.json(keys({ Token: `session-token-${nth}` }));
  });
  const authorize = signing(roleAt("container", double.url));
  const tokens = async (count: number): Promise<(string | undefined)[]> =>
    (await Promise.all(Array.from({ length: count }, () => proofOf(authorize)))).map(
      (proof) => proof["x-amz-security-token"],
    );
  expect(new Set(await tokens(50))).toEqual(new Set(["session-token-1"]));
  expect(authorize(CALL, signal)).not.toBeInstanceOf(Promise);
  expect(double.asked).toHaveLength(1);
  passes(57 * MINUTE_MS); // within the last five minutes
  expect(new Set(await tokens(10))).toEqual(new Set(["session-token-1"]));
  gate.resolve();
  await reads(() => tokens(1), ["session-token-2"]);
  expect(double.asked).toHaveLength(2);
});

test("a renewal that failed is shared for a second", async () => {
  await using double = startDouble(() => new Response("", { status: 503 }));
  const authorize = signing(roleAt("container", double.url));
  for (let n = 0; n < 5; n += 1) expect((await failureOf(proofOf(authorize))).reason).toBe("unavailable");
  expect(double.asked).toHaveLength(1);
});

const failed = (role: AwsRole, ms?: number): Promise<Failure> => failureOf(assumeRole(role, "us-east-1", ms));

const json = (change: Record<string, unknown>) => (): Response => Response.json(keys(change));
const LIES: [string, AwsRole["from"], () => Response | Promise<Response>, Failure["reason"]][] = [
  ["403", "container", () => Response.json({ code: "AccessDenied" }, { status: 403 }), "account"],
  ["429", "container", () => new Response("", { status: 429 }), "rate_limited"],
  ["500 with HTML", "container", () => new Response("<html>", { status: 500 }), "unavailable"],
  ["a redirect", "container", () => Response.redirect("http://127.0.0.1:1/", 302), "unavailable"],
  ["no JSON", "container", () => new Response("keys"), "unavailable"],
  ["a list", "container", () => Response.json([]), "unavailable"],
  ["no secret", "container", json({ SecretAccessKey: undefined }), "unavailable"],
  ["a key id with a slash", "container", json({ AccessKeyId: "ASIAEXAMPLE12345/../x" }), "unavailable"],
  ["a token that ends the header", "container", json({ Token: "a\r\nhost: b" }), "unavailable"],
  ["no token", "container", json({ Token: "" }), "unavailable"],
  ["no end", "container", json({ Expiration: undefined }), "unavailable"],
  ["an end that is none", "container", json({ Expiration: "soon" }), "unavailable"],
  ["keys that have ended", "container", json({ Expiration: inSeconds(-1) }), "unavailable"],
  ["a megabyte", "container", () => new Response("x".repeat(1024 * 1024)), "unavailable"],
  [
    "a refusal in XML",
    "web_identity",
    () => new Response("<Error><Code>AccessDenied</Code></Error>", { status: 403 }),
    "account",
  ],
  ["XML without keys", "web_identity", () => new Response("<Credentials/>"), "unavailable"],
  ["JSON", "web_identity", json({}), "unavailable"],
  ["no session", "instance", () => new Response("", { status: 403 }), "account"],
  ["a session of two lines", "instance", () => new Response("a\nb"), "unavailable"],
];

test.each(LIES)("%s from a %s proves that nothing was sent", async (_, from, answer, reason) => {
  writeFileSync(TOKEN_FILE, "eyJ.signed.token");
  await using double = startDouble(answer);
  const failure = await failed(roleAt(from, double.url));
  expect([failure.reason, failure.executed]).toEqual([reason, "no"]);
});

test("a machine without a role, one whose role may not be taken, and names that are none", async () => {
  const told = (code: string) => () => Response.json({ Code: code, Message: "not now" });
  for (const [role, answer, words] of [
    [
      () => new Response("", { status: 404 }),
      json({}),
      "the machine has no role: give it an instance profile",
    ],
    [() => new Response("../../user-data"), json({}), "names no role"],
    [
      () => new Response("gateway-role"),
      told("AssumeRoleUnauthorizedAccess"),
      "AssumeRoleUnauthorizedAccess: not now",
    ],
  ] as const) {
    await using double = machine(answer, role);
    const { message, upstream, executed } = await failed(roleAt("instance", double.url));
    expect(`${message} ${upstream.words}`).toContain(words);
    expect(executed).toBe("no");
  }
});

test("who is silent, before or within the answer, is waited for so long; who is not there, not at all", async () => {
  for (const silent of [
    (): Promise<Response> => new Promise(() => {}),
    (): Response => new Response(new ReadableStream({ start: (controller) => controller.enqueue("{") })),
  ]) {
    await using double = startDouble(silent);
    const beganMs = performance.now();
    expect(await failed(roleAt("instance", double.url), 200)).toMatchObject({
      reason: "connect_timeout",
      message: "the machine's metadata service did not answer within 200 ms",
    });
    expect(performance.now() - beganMs).toBeLessThan(8_000); // its usual limit is ten seconds
  }
  expect(await failed(roleAt("container", "http://127.0.0.1:1"))).toMatchObject({ reason: "connect" });
});

test("a token file that is gone, empty or none is named, and nothing is asked", async () => {
  await using double = startDouble(() => new Response(xml()));
  rmSync(TOKEN_FILE, { force: true });
  const told = async (): Promise<(string | undefined)[]> => {
    const { message, upstream } = await failed(roleAt("web_identity", double.url));
    return [message, upstream.words];
  };
  expect(await told()).toEqual([
    `the token file ${TOKEN_FILE} cannot be read (ENOENT)`,
    "the token file cannot be read (ENOENT)", // members may read this one
  ]);
  for (const text of ["", "a\nb", "x".repeat(40_000)]) {
    writeFileSync(TOKEN_FILE, text);
    expect(await told()).toEqual([
      `the token file ${TOKEN_FILE} holds no token`,
      "the token file holds no token",
    ]);
  }
  expect(double.asked).toEqual([]);
});

test("nothing that proves us stands in what is kept of a refusal", async () => {
  writeFileSync(TOKEN_FILE, "eyJ.signed.token");
  await using double = startDouble(({ body, headers }) => {
    const token = new URLSearchParams(body).get("WebIdentityToken") ?? headers.get("authorization") ?? "";
    return body === ""
      ? Response.json({ code: "Denied", message: `not for ${token}` }, { status: 403 })
      : new Response(`<Error><Code>Denied</Code><Message>not for ${token}</Message></Error>`, {
          status: 403,
        });
  });
  for (const from of ["container", "web_identity"] as const) {
    const failure = await failed(roleAt(from, double.url));
    expect(failure.upstream.words).toBe("Denied: not for [key]");
    expect(failure.message).toEndWith("answered 403 (Denied)");
  }
});
