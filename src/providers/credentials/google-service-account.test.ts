import { afterEach, expect, mock, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateKeyPairSync } from "node:crypto";
import { jwtVerify } from "jose";
import { reads } from "../../../test/support/wait.ts";
import type { Failure } from "../failure.ts";
import { failureOf } from "../openai/openai.fixtures.ts";
import {
  complaintOf,
  EMAIL,
  keyFor,
  keyText,
  passes,
  PEM,
  publicKey,
  startTokenServer,
  tokenReply,
} from "./credentials.fixtures.ts";
import { GoogleServiceAccount } from "./google-service-account.ts";
import { serviceAccount } from "./service-account-key.ts";

const MINUTE_MS = 60_000;
afterEach(() => mock.restore());

const failed = (account: GoogleServiceAccount): Promise<Failure> =>
  failureOf(Promise.resolve(account.authorize()));

/** The times of its token, which no test can wait for. */
const keptOf = (account: GoogleServiceAccount): { bornMs: number; endMs: number } =>
  (account as unknown as { bearer: { kept: { bornMs: number; endMs: number } } }).bearer.kept;

test("a signed claim buys a token, which every later call shows", async () => {
  await using server = startTokenServer((nth) => tokenReply(`token-${nth}`));
  const account = new GoogleServiceAccount(keyFor(server.url));
  expect(await account.authorize()).toEqual({ authorization: "Bearer token-1" });
  expect(account.authorize()).toEqual({ authorization: "Bearer token-1" }); // without a promise
  const [form] = server.asked;
  expect(form?.get("grant_type")).toBe("urn:ietf:params:oauth:grant-type:jwt-bearer");
  const { payload, protectedHeader } = await jwtVerify(form?.get("assertion") ?? "", publicKey);
  expect(protectedHeader).toEqual({ alg: "RS256", typ: "JWT", kid: "key-1" });
  expect(payload).toMatchObject({
    iss: EMAIL,
    aud: server.url,
    scope: "https://www.googleapis.com/auth/cloud-platform",
  });
  expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(3600);
});

test("calls that arrive together share one renewal, and its failure", async () => {
  const gate = Promise.withResolvers<void>();
  await using server = startTokenServer(async (nth) => {
    await gate.promise;
    return nth === 1 ? Response.json({ error: "invalid_grant" }, { status: 400 }) : tokenReply("good");
  });
  const account = new GoogleServiceAccount(keyFor(server.url));
  const calls = Array.from({ length: 50 }, () => failed(account));
  gate.resolve();
  for (const failure of await Promise.all(calls)) expect(failure.reason).toBe("account");
  expect(server.asked).toHaveLength(1);
  expect((await failed(account)).reason).toBe("account"); // a failure is remembered for a second
  expect(server.asked).toHaveLength(1);
  passes(1050);
  expect(await account.authorize()).toEqual({ authorization: "Bearer good" });
});

test("it is renewed before it ends, beside the calls that go out with the old one", async () => {
  const gate = Promise.withResolvers<void>();
  await using server = startTokenServer(async (nth) => {
    if (nth > 1) await gate.promise;
    return tokenReply(`token-${nth}`);
  });
  const account = new GoogleServiceAccount(keyFor(server.url));
  await account.authorize();
  passes(57 * MINUTE_MS); // within the last five minutes
  for (let n = 0; n < 10; n += 1) expect(account.authorize()).toEqual({ authorization: "Bearer token-1" });
  gate.resolve();
  await reads(async () => account.authorize(), { authorization: "Bearer token-2" });
  expect(server.asked).toHaveLength(2);
});

test("one that has ended goes out no more, whatever became of its renewal", async () => {
  await using server = startTokenServer((nth) =>
    nth === 1 ? tokenReply("short") : new Response("down", { status: 503 }),
  );
  const account = new GoogleServiceAccount(keyFor(server.url));
  await account.authorize();
  passes(60 * MINUTE_MS);
  expect(await failed(account)).toMatchObject({ reason: "unavailable", executed: "no" });
});

test("a token that the provider refused is given up, unless it is new", async () => {
  await using server = startTokenServer((nth) => tokenReply(`token-${nth}`));
  const account = new GoogleServiceAccount(keyFor(server.url));
  await account.authorize();
  account.refused();
  expect(await account.authorize()).toEqual({ authorization: "Bearer token-1" });
  keptOf(account).bornMs -= 60_000;
  account.refused();
  expect(await account.authorize()).toEqual({ authorization: "Bearer token-2" });
});

const LIES: [string, () => Response | Promise<Response>, Failure["reason"]][] = [
  ["401", () => Response.json({ error: "invalid_client" }, { status: 401 }), "account"],
  ["403", () => new Response("", { status: 403 }), "account"],
  ["408", () => new Response("", { status: 408 }), "unavailable"],
  ["429", () => new Response("{}", { status: 429 }), "rate_limited"],
  ["500 with HTML", () => new Response("<html>", { status: 500 }), "unavailable"],
  [
    "a redirect",
    () => new Response(null, { status: 302, headers: { location: "http://127.0.0.1:1/" } }),
    "unavailable",
  ],
  ["no JSON", () => new Response("token"), "unavailable"],
  ["a list", () => Response.json([]), "unavailable"],
  ["no token", () => Response.json({ expires_in: 3600, token_type: "Bearer" }), "unavailable"],
  ["an empty token", () => tokenReply(""), "unavailable"],
  ["a token that ends the header", () => tokenReply("a\r\nx-goog-user-project: b"), "unavailable"],
  ["a token longer than a header", () => tokenReply("a".repeat(8193)), "unavailable"],
  [
    "a token of another type",
    () => Response.json({ access_token: "a", expires_in: 9, token_type: "MAC" }),
    "unavailable",
  ],
  ["a token that has ended", () => tokenReply("a", 0), "unavailable"],
  ["a token that ends before it begins", () => tokenReply("a", -5), "unavailable"],
  ["an end that is no number", () => tokenReply("a", "3600"), "unavailable"],
  ["more than a token", () => new Response("x".repeat(1024 * 1024)), "unavailable"],
  [
    "a flood without end",
    () =>
      new Response(
        new ReadableStream({
          pull: (controller) => controller.enqueue(new Uint8Array(65_536)),
        }),
      ),
    "unavailable",
  ],
];

test.each(LIES)("a token server that answers %s proves that nothing was sent", async (_, answer, reason) => {
  await using server = startTokenServer(answer);
  const failure = await failed(new GoogleServiceAccount(keyFor(server.url)));
  expect([failure.reason, failure.executed]).toEqual([reason, "no"]);
});

test("a token server that is silent, before or within its answer, is waited for so long", async () => {
  for (const silent of [
    (): Promise<Response> => new Promise(() => {}),
    (): Response => new Response(new ReadableStream({ start: (controller) => controller.enqueue("{") })),
  ]) {
    await using server = startTokenServer(silent);
    const beganMs = performance.now();
    const failure = await failed(new GoogleServiceAccount(keyFor(server.url), 200));
    expect([failure.reason, failure.executed]).toEqual(["connect_timeout", "no"]);
    expect(performance.now() - beganMs).toBeLessThan(8_000); // its usual limit is ten seconds
  }
});

test("a token server that is not there", async () => {
  const failure = await failed(new GoogleServiceAccount(keyFor("http://127.0.0.1:1/token")));
  expect([failure.reason, failure.executed]).toEqual(["connect", "no"]);
});

test("nothing that proves us stands in what is kept of a refusal", async () => {
  let assertion = "";
  await using server = startTokenServer((nth) => {
    assertion = server.asked[nth - 1]?.get("assertion") ?? "";
    return Response.json(
      { error: "invalid_grant", error_description: `bad ${assertion} of ${EMAIL}` },
      { status: 400 },
    );
  });
  const failure = await failed(new GoogleServiceAccount(keyFor(server.url)));
  expect(failure.upstream.words).toBe("invalid_grant: bad [key] of [mail]");
  expect(JSON.stringify(failure) + failure.message).not.toContain(assertion.slice(0, 40));
});

test("a life that no token has is taken for the longest", async () => {
  await using server = startTokenServer(() => tokenReply("a", 1e308));
  const account = new GoogleServiceAccount(keyFor(server.url));
  await account.authorize();
  expect(keptOf(account).endMs - performance.now()).toBeLessThan(12 * 3_600_000);
});

test("the setting takes a file's path or its text, and prints no key", () => {
  const directory = mkdtempSync(join(tmpdir(), "tollgate-key-"));
  try {
    const path = join(directory, "key.json");
    writeFileSync(path, keyText());
    const key = serviceAccount.parse(path);
    expect([key.email, key.project, key.keyId]).toEqual([EMAIL, "project-7", "key-1"]);
    expect(serviceAccount.parse(keyText()).email).toBe(EMAIL);
    expect(JSON.stringify(key) + Bun.inspect(key)).not.toContain(PEM.slice(40, 80));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

const small = generateKeyPairSync("rsa", { modulusLength: 1024 }).privateKey.export({
  type: "pkcs8",
  format: "pem",
});
const curve = generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" });
const REMEDY = "Create a JSON key for the service account and name that file, or give its text as ${NAME}.";

test.each<[string, unknown, string]>([
  ["nothing", "", "must not be empty"],
  [
    "a relative path",
    "keys/a.json",
    "must be the absolute path of a service account's JSON key file, or its text as ${NAME}",
  ],
  ["a file that is not there", "/nowhere/a.json", `/nowhere/a.json cannot be read. ${REMEDY}`],
  ["a text that is no JSON", '{ "a"', "the given text is not a service account key: it is not a JSON object"],
  ["a person's key", keyText({ type: "authorized_user" }), 'it has a type that is not "service_account"'],
  ["no account", keyText({ client_email: undefined }), "it lacks client_email"],
  ["no private key", keyText({ private_key: undefined }), "it lacks private_key"],
  [
    "a broken private key",
    keyText({ private_key: PEM.slice(100) }),
    "it has a private_key that is not an RSA key",
  ],
  [
    "a small private key",
    keyText({ private_key: small }),
    "it has a private_key that is not an RSA key of at least 2048 bits",
  ],
  ["another kind of key", keyText({ private_key: curve }), "it has a private_key that is not an RSA key"],
  ["no token server", keyText({ token_uri: undefined }), "it lacks token_uri"],
  [
    "a token server in the clear",
    keyText({ token_uri: "http://oauth2.example.com/token" }),
    "not an https:// address",
  ],
  [
    "a token server with a password",
    keyText({ token_uri: "https://a:b@example.com/" }),
    "not an https:// address",
  ],
])("the setting refuses %s, with its remedy and without a secret", (_, given, why) => {
  const complaint = complaintOf(given) ?? "";
  expect(complaint).toContain(why);
  expect(complaint).not.toContain(PEM.slice(60, 90));
});
