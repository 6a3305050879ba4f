// Texts that no store accepts, or that are far too long, in every place of every route where a caller can put one: a
// refusal, never a failure of ours. The list of places is generated from the contract, so that a new route is
// included.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { z } from "zod";
import { adminTargets, appRoutes } from "../support/endpoints.ts";
import { type Browser, firstOperator, PASSWORD } from "../support/browser.ts";
import type { Passwords } from "../../src/people/sign-in.ts";
import { STORES, type TestGateway } from "../support/gateway.ts";
import { PAGE, startForPage } from "../support/page.ts";
import { QUICK_PASSWORDS } from "../support/passwords.ts";
import { exchange, statusOf } from "../support/raw.ts";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** As written in a path or a query. */
const IN_ADDRESS = ["%00", "a%00b", "%ff", "%ed%a0%80", "%", "a".repeat(10_000)];
/** As written between the quotes of a JSON text. */
const IN_BODY = ["\\u0000", "a\\u0000b", "\\ud800", "a".repeat(100_000)];
/** Of the key that the test itself uses. */
const OWN_END = "/logout";
const ABREAST = 8;
const SLOW_MS = 240_000;
/** Everyone has been let in long before. */
const NOBODY_WAITS_MS = 20_000;

interface Place {
  method: string;
  path: string;
  body?: string;
}

const keysOf = (schema: unknown): string[] =>
  Object.keys((schema as Partial<z.ZodObject> | null)?.shape ?? {});

/** One request for each place and text; all other parameters get a harmless value. */
function placesOf(method: string, path: string, shape: { query: unknown; body: unknown }): Place[] {
  const params = [...path.matchAll(/\{\w+\}/g)].map(([param]) => param);
  const harmless = (skipped: string): string =>
    params.reduce((filled, param) => (param === skipped ? filled : filled.replace(param, "x_1")), path);
  const address = IN_ADDRESS.flatMap((text) => [
    ...params.map((param) => harmless(param).replace(param, text)),
    ...[...keysOf(shape.query), "unknown"].map((key) => `${harmless("")}?${key}=${text}`),
    `${harmless("")}?${text}=1`,
  ]).map((target) => ({ method, path: target }));
  const bodies = IN_BODY.flatMap((text) => [
    ...keysOf(shape.body).map((key) => `{"${key}":"${text}"}`),
    `{"${text}":1}`,
    `"${text}"`,
  ]).map((body) => ({ method, path: harmless(""), body }));
  return method === "GET" ? address : [...address, ...bodies];
}

/** Comparisons wait until a caller was told to wait for one, if `crowded` is set. */
let crowded: Promise<void> = Promise.resolve();
const SLOW_PASSWORDS: Passwords = {
  hash: (password) => QUICK_PASSWORDS.hash(password),
  verify: async (given) => {
    await crowded;
    return await QUICK_PASSWORDS.verify(given);
  },
};

describe.each(STORES)("on %s", (store) => {
  let gateway: TestGateway;
  let root: Browser;
  let token: string;
  beforeAll(async () => {
    gateway = await startForPage({
      store,
      passwords: SLOW_PASSWORDS,
      configure: (config) => {
        config.signIn.perMinute = 100_000;
      },
    });
    root = await firstOperator(gateway);
    ({ token } = JSON.parse(readFileSync(join(gateway.dataDir, "operator.json"), "utf8")) as {
      token: string;
    });
  }, SLOW_MS);
  afterAll(async () => {
    await gateway.assertSound();
    await gateway.stop();
  });

  /** The places that were answered with a failure of ours. */
  async function failing(places: Place[], headers: Record<string, string>): Promise<string[]> {
    const failures: string[] = [];
    const waiting = [...places];
    const worker = async (): Promise<void> => {
      for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
        const { method, path, body = method === "GET" ? undefined : "{}" } = place;
        const stopped = AbortSignal.timeout(90_000);
        const answer = await fetch(gateway.url + path, {
          method,
          headers: { ...headers, "content-type": "application/json", origin: gateway.url },
          signal: stopped,
          ...(body !== undefined && { body }),
        });
        if (answer.status >= 500 && answer.status !== 501)
          failures.push(
            `${method} ${path.slice(0, 100)} ${body?.slice(0, 60)}: ${(await answer.text()).slice(0, 200)}`,
          );
        await answer.body?.cancel().catch(() => {});
      }
    };
    await Promise.all(Array.from({ length: ABREAST }, worker));
    return failures;
  }

  test(
    "the dashboard's API",
    async () => {
      const places = appRoutes().flatMap(([route, shape]) => {
        const [method = "", path = ""] = route.split(" ");
        return placesOf(method, `/app/v1${path}`, shape);
      });
      expect(places.length).toBeGreaterThan(2_000);
      expect(await failing(places, { cookie: root.cookie })).toEqual([]);
      expect((await root.app("GET /session")).person).not.toBeNull();
    },
    SLOW_MS,
  );

  test(
    "the operator API",
    async () => {
      const places = adminTargets()
        .filter(({ path }) => path !== `/admin/v1${OWN_END}`)
        .flatMap(({ method, path, ...shape }) => placesOf(method, path, shape));
      expect(places.length).toBeGreaterThan(500);
      expect(await failing(places, { authorization: `Bearer ${token}` })).toEqual([]);
    },
    SLOW_MS,
  );

  test(
    "other inputs of callers of completions",
    async () => {
      const { secret } = await gateway.customer();
      const free = [
        "/v1/models",
        "/v1/models/{model}",
        "/v1/key",
        "/v1/credits",
        "/v1/receipts/{id}",
        "/v1/generation",
      ];
      const query = { shape: { id: true, limit: true } };
      const places = free.flatMap((path) => placesOf("GET", path, { query, body: null }));
      const chat = placesOf("POST", "/v1/chat/completions", {
        query,
        body: { shape: { model: true, messages: true, user: true, metadata: true, service_tier: true } },
      });
      expect(await failing([...places, ...chat], { authorization: `Bearer ${secret}` })).toEqual([]);
    },
    SLOW_MS,
  );

  test(
    "signing in, and a terminal's login",
    async () => {
      const body = {
        shape: { email: true, password: true, provider: true, code: true, id: true, name: true, token: true },
      };
      const query = { shape: { state: true, code: true, error: true, error_description: true } };
      const doors = [
        "POST /auth/sign-in/email",
        "POST /auth/sign-in/social",
        "POST /auth/two-factor/verify-totp",
        "POST /auth/two-factor/verify-backup-code",
        "POST /auth/passkey/delete-passkey",
        "POST /auth/passkey/verify-authentication",
        "GET /auth/passkey/generate-authenticate-options",
        "GET /auth/callback/acme",
      ];
      const places = doors.flatMap((door) => {
        const [method = "", path = ""] = door.split(" ");
        return placesOf(method, path, { query, body });
      });
      expect(await failing(places, { cookie: root.cookie })).toEqual([]);
    },
    SLOW_MS,
  );

  test(
    "headers and cookies",
    async () => {
      const odd = ["%00", "%ff", "\xff\xfe", "a".repeat(7_000), "[", "]:80", "a b", "http://"];
      const names = [
        "Cookie",
        "Origin",
        "X-Forwarded-For",
        "X-Forwarded-Host",
        "X-Forwarded-Proto",
        "User-Agent",
        "Idempotency-Key",
        "Referer",
        "Accept-Language",
        "Authorization",
        "Last-Event-ID",
        "Host",
        "Forwarded",
      ];
      const failures: string[] = [];
      for (const path of [
        "/app/v1/session",
        "/auth/passkey/generate-authenticate-options",
        "/v1/models",
        "/admin/v1/routes",
        "/",
      ])
        for (const name of names)
          for (const value of odd) {
            const given = name === "Cookie" ? `tollgate.session_token=${value}.${value}` : value;
            const host = name === "Host" ? "" : "Host: localhost\r\n";
            const reply = await exchange(
              gateway.url,
              `GET ${path} HTTP/1.1\r\n${host}${name}: ${given}\r\nConnection: close\r\n\r\n`,
              2_000,
            );
            if (statusOf(reply) >= 500) failures.push(`${path} ${name}: ${value.slice(0, 20)}`);
          }
      expect(failures).toEqual([]);
    },
    SLOW_MS,
  );

  test(
    "an allowed Origin with an odd Host is refused, and does not fail",
    async () => {
      for (const host of ["", "a b", "[", "x:99999999", "%00", "http://x"])
        for (const method of ["GET", "OPTIONS"]) {
          const lines = `${method} /v1/models HTTP/1.1\r\nHost: ${host}\r\nOrigin: ${PAGE}\r\n`;
          expect([
            host,
            statusOf(await exchange(gateway.url, `${lines}Connection: close\r\n\r\n`, 2_000)),
          ]).toEqual([host, 400]);
        }
    },
    SLOW_MS,
  );

  test(
    "240 people who sign in concurrently are let in or told to wait",
    async () => {
      const { promise, resolve: somebodyWaits } = Promise.withResolvers<void>();
      crowded = Promise.race([promise, Bun.sleep(NOBODY_WAITS_MS)]);
      const signIn = async (index: number): Promise<number> => {
        const password = index % 2 === 0 ? PASSWORD : "not the password";
        const answer = await fetch(`${gateway.url}/auth/sign-in/email`, {
          method: "POST",
          headers: { "content-type": "application/json", origin: gateway.url },
          body: JSON.stringify({ email: "root@example.com", password }),
        });
        const retry = answer.headers.get("retry-after");
        await answer.text();
        if (answer.status === 429) somebodyWaits();
        const isToWait = answer.status === 429 || answer.status === 503;
        return isToWait && retry === null ? 0 : answer.status;
      };
      const statuses = new Set(await Promise.all(Array.from({ length: 240 }, (_, index) => signIn(index))));
      statuses.delete(503); // on a slow machine the last ones wait for longer than the store lets them
      expect(statuses).toEqual(new Set([200, 401, 429]));
    },
    SLOW_MS,
  );
});
