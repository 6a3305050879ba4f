// A leaked release key together with the right to publish: it can push a route to the highest possible version, and
// no signature by another key can bring it back (docs/decisions/0068-versions-are-of-routes.md). The model continues
// under another route.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseManifest } from "../../src/releases/manifest.ts";
import { generateReleaseKey, readReleaseKey, type ReleaseKey } from "../../src/releases/release-key.ts";
import { signRelease } from "../../src/releases/signature.ts";
import type { ErrorJson, GatewayJson } from "../support/events.ts";
import { type Customer, hello, startGateway, type TestGateway } from "../support/gateway.ts";
import { PLAIN } from "../support/models.ts";

const ROUTE = "plain-1@simulator/local";
const LAST = Number.MAX_SAFE_INTEGER;

let gateway: TestGateway;
let customer: Customer;
let leaked: ReleaseKey;
let trusted: string[];
beforeAll(async () => {
  const { privateJwk, publicJwk } = await generateReleaseKey();
  leaked = await readReleaseKey(privateJwk);
  gateway = await startGateway({
    models: [PLAIN],
    configure: (config) => {
      const file = join(config.dataDir, "leaked.jwk");
      writeFileSync(file, JSON.stringify(publicJwk));
      trusted = config.trust?.releaseKeys ?? [];
      trusted.push(file);
    },
  });
  customer = await gateway.customer();
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
});

const asked = async (): Promise<[status: number, said: unknown]> => {
  const { status, json } = await gateway.chat<ErrorJson & { gateway: GatewayJson }>(customer, hello());
  return [status, status === 200 ? json.gateway.route.region : json.error.code];
};

test("versions by any trusted key count for the route, and a lower one is refused whoever signed it", async () => {
  const jws = await signRelease(parseManifest({ ...PLAIN, version: LAST }), leaked, {
    expiresInMs: 3_600_000,
    nowMs: Date.now(),
  });
  expect((await gateway.admin("POST", "/releases", { jws })).status).toBe(200);
  const refused = await gateway.publish({ ...PLAIN, version: 2 });
  expect([refused.status, (refused.json as unknown as ErrorJson).error.code]).toEqual([
    422,
    "release_refused",
  ]);
});

test("if its key is no longer trusted the route is closed, and the refusal of a new version says how to continue", async () => {
  trusted.pop();
  await gateway.restart();
  expect(await asked()).toEqual([503, "route_release_stale"]);
  const { json } = await gateway.publish({ ...PLAIN, version: LAST });
  const { message } = (json as unknown as ErrorJson).error;
  expect(message).toContain(`not above ${LAST}`);
  expect(message).toContain("Publish the model under another `region`, and disable this route.");
});

test("the same model is served under another region, and the closed route blocks nothing", async () => {
  expect((await gateway.publish({ ...PLAIN, region: "local-2" })).status).toBe(200);
  expect(await asked()).toEqual([200, "local-2"]);
  await gateway.admin("POST", "/routes/disable", { route: ROUTE, reason: "its last version is spent" });
  expect(await asked()).toEqual([200, "local-2"]);
});
