// Enumerates the table of routes (hardening.md S8): a caller without a credential, or with a good key in a place that
// the route does not read, is refused on each route that takes a credential, and only there. Routes behind management
// keys and sessions are enumerated by endpoint, in test/app/doors.test.ts.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { CREDENTIAL_HEADERS } from "../../src/domain/credential.ts";
import { FORMATS } from "../../src/gateway/formats/formats.ts";
import type { Route } from "../../src/http/router.ts";
import { httpRoutes, type RoutePorts } from "../../src/main/routes.ts";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";

/** Handlers are built from the ports and not called. */
const ROUTES = httpRoutes({ formats: FORMATS } as unknown as RoutePorts);
const CALLS = ROUTES.filter(({ door }) => door !== "management").flatMap(({ path, methods, door }) =>
  methods.map((method) => [`${method} ${path}`, { method, path: path.replace("*", "x"), door }] as const),
);

let gateway: TestGateway;
let customer: Customer;
beforeAll(async () => {
  gateway = await startGateway();
  customer = await gateway.customer();
});
afterAll(() => gateway.stop());

async function statusOf(
  { method, path }: { method: string; path: string },
  headers: Record<string, string> = {},
): Promise<number> {
  const body = method === "GET" ? {} : { body: "{}" };
  const json = { "content-type": "application/json" };
  return (await fetch(`${gateway.url}${path}`, { method, headers: { ...json, ...headers }, ...body })).status;
}

/** Headers that hold keys elsewhere, but not on this path. */
function unreadAt(path: string): readonly string[] {
  const format = FORMATS.find((one) => path === one.path || path.startsWith(`${one.path}/`));
  const read = format?.credentialHeader ?? "authorization";
  return read === "either" ? [] : CREDENTIAL_HEADERS.filter((header) => header !== read);
}

/** For a caller from loopback without a credential. */
const TURNED_AWAY: Record<Route["door"], boolean> = {
  public: false,
  loopback: false,
  inference: true,
  management: true,
  session: true,
};

describe.each(CALLS)("%s", (name, call) => {
  test(`is ${TURNED_AWAY[call.door] ? "closed to" : "open for"} a caller without a credential`, async () => {
    const status = await statusOf(call);
    // A payment webhook is authenticated by its own signature over the body.
    if (name === "POST /webhooks/stripe") expect(status).toBe(400);
    else expect(status === 401).toBe(TURNED_AWAY[call.door]);
  });

  if (TURNED_AWAY[call.door])
    for (const header of unreadAt(call.path))
      test(`reads no key from ${header}`, async () => {
        expect(await statusOf(call, { [header]: customer.secret })).toBe(401);
      });
});
