// A backup does not contain later requests: after it is restored, their retries are new requests. `db restore` says
// how many, and which credits it forgets, which can be given again under their reference.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { ProcessGateway, type Received } from "../support/process-gateway.ts";

const PATIENCE_MS = 60_000;
let gateway: ProcessGateway;
beforeAll(async () => {
  gateway = await ProcessGateway.start();
}, PATIENCE_MS);
afterAll(() => gateway.stop(), PATIENCE_MS);

test(
  "a restore says how many requests with a key it forgets; their retries are new requests, charged once each",
  async () => {
    const { organizationId, secret } = await gateway.customer();
    const body = { model: "plain-1", messages: [{ role: "user", content: "Hello" }], max_tokens: 60 };
    const keyed = (key: string): Promise<Received> => gateway.chat(secret, body, { "idempotency-key": key });
    const before = await keyed("in-the-backup");
    const backup = join(gateway.folder, "backup");
    expect((await gateway.cli({}, "db", "backup", backup)).code).toBe(0);
    const after = await keyed("after-the-backup");
    const paid = { org: organizationId, usd: "7.5", kind: "purchase", reference: "invoice-18" };
    await gateway.admin("POST", "/credits", paid);
    await gateway.kill("SIGTERM");
    const restored = await gateway.cli({}, "db", "restore", backup);
    expect({ ...restored, code: 0 }).toEqual(restored);
    expect(restored.stdout).toContain(
      "1 request with an Idempotency-Key, among others. A retry of one of them is",
    );
    expect(restored.stdout).toContain(
      `1 credit. Credit it again:\n  $7.50 purchase of ${organizationId}, invoice-18\n`,
    );
    await gateway.run();
    await gateway.admin("POST", "/credits", paid);
    const bill = gateway.simulator.bill().length;
    expect((await keyed("in-the-backup")).text).toBe(before.text);
    expect(gateway.simulator.bill().length).toBe(bill);
    const again = await keyed("after-the-backup");
    expect(again.headers.get("x-request-id")).not.toBe(after.headers.get("x-request-id"));
    expect(gateway.simulator.bill().length).toBe(bill + 1);
    const { data } = await gateway.admin<{ data: unknown[] }>("GET", `/requests?org=${organizationId}`);
    expect(data).toHaveLength(3); // the replay is one of them
    expect(await gateway.admin("GET", "/ledger/audit")).toMatchObject({ ok: true });
  },
  PATIENCE_MS,
);
