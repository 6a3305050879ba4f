// Requests that are admitted together: looked at as they arrive, then stage by stage with all that arrived in one turn.
import { expect, test } from "bun:test";
import { Refusal } from "../domain/refusals.ts";
import { mintKey } from "../registry/secret.ts";
import { admit, type AdmitPorts } from "./admit.ts";
import type { Incoming } from "./incoming.ts";

const { value } = mintKey({ organizationId: "org_abcdefghijkl", keyId: "key_abcdefghijkl" });

/** Its body cannot be read, which ends its admission. */
const arriving = (name: string, steps: string[], authorization = `Bearer ${value}`): Incoming =>
  ({
    authorization,
    idempotencyKey: name,
    checkBody: () => steps.push(`${name}: headers`),
    readBody: () => {
      steps.push(`${name}: body`);
      return Promise.reject(new Refusal("invalid_request", "the body ends here"));
    },
  }) as Partial<Incoming> as Incoming;

const portsOf = (steps: string[]): AdmitPorts =>
  ({
    ledger: { checkKey: () => steps.push("key") },
    limits: { refusal: () => null },
  }) as object as AdmitPorts;

test("those that arrive together are looked at as they come, and go on together", async () => {
  const steps: string[] = [];
  const ports = portsOf(steps);
  await Promise.allSettled(["a", "b"].map((name) => admit(ports, arriving(name, steps))));
  expect(steps.slice(0, 2)).toEqual(["a: headers", "b: headers"]);
  expect(steps.slice(2).toSorted()).toEqual(["a: body", "b: body", "key", "key"]);
});

test("who shows no key that can be one waits for nobody", async () => {
  const steps: string[] = [];
  const loop = new Promise((resolve) => setImmediate(resolve)).then(() => "the loop went on");
  const refused = admit(portsOf(steps), arriving("a", steps, "Bearer gw_sk_wrong")).catch(
    (error: unknown) => error,
  );
  expect(await Promise.race([loop, refused])).toMatchObject({ code: "invalid_api_key" });
  expect(steps).toEqual([]);
});
