// `Idempotency-Key` on the operator API: a script that repeats a change makes it once, whatever happened to the first
// answer.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createdKeyRecord } from "../../src/api/shapes/keys.ts";
import { STORES, startGateway, type TestGateway } from "../support/gateway.ts";
import { allOrganizations } from "../../src/registry/organizations.ts";
import { keysOf } from "../support/registry-reads.ts";

/** A management key, as the command line finds it. */
const tokenOf = (dataDir: string): string =>
  (JSON.parse(readFileSync(join(dataDir, "operator.json"), "utf8")) as { token: string }).token;

interface Answered {
  status: number;
  replayed: string | null;
  json: { id: string; secret?: string | null; error?: { code: string } };
}

describe.each(STORES)("on %s", (store) => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway({ store });
  });
  afterAll(() => gateway.stop());

  async function post(path: string, body: object, key?: string): Promise<Answered> {
    const response = await fetch(`${gateway.url}/admin/v1${path}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${tokenOf(gateway.dataDir)}`,
        "content-type": "application/json",
        ...(key !== undefined && { "idempotency-key": key }),
      },
      body: JSON.stringify(body),
    });
    const json = (await response.json()) as Answered["json"];
    return { status: response.status, replayed: response.headers.get("idempotent-replayed"), json };
  }

  const named = async (name: string): Promise<number> =>
    (await allOrganizations(gateway.ledger)).filter((one) => one.name === name).length;

  test("five concurrent calls under one key make one organization; a later one gets its answer", async () => {
    const make = (): Promise<Answered> => post("/organizations", { name: "Once" }, "make-once-1");
    const answers = await Promise.all(Array.from({ length: 5 }, make));
    answers.push(await make());
    expect(new Set(answers.map(({ status, json }) => `${status} ${json.id}`)).size).toBe(1);
    expect(answers.filter(({ replayed }) => replayed === "true")).toHaveLength(5);
    expect(await named("Once")).toBe(1);
  });

  test("a repeated key creation makes no second key, and does not show the secret again", async () => {
    const { json: org } = await post("/organizations", { name: "Keys" });
    const body = { org: org.id, name: "script" };
    const first = await post("/keys", body, "key-for-script");
    const again = await post("/keys", body, "key-for-script");
    expect(first.json.secret).toStartWith("gw_sk_");
    expect(again).toMatchObject({ status: 201, replayed: "true", json: { id: first.json.id, secret: null } });
    for (const { json } of [first, again]) createdKeyRecord.parse(json); // as in the OpenAPI document
    expect(await keysOf(gateway.ledger, org.id)).toHaveLength(1);
  });

  test("another body is refused; a refusal is not stored; without a key each call is separate", async () => {
    const reused = await post("/organizations", { name: "Other" }, "make-once-1");
    expect([reused.status, reused.json.error?.code]).toEqual([422, "idempotency_key_reused"]);
    expect((await post("/organizations", { name: "" }, "first-refused")).status).toBe(400);
    expect((await post("/organizations", { name: "Now" }, "first-refused")).status).toBe(201);
    expect((await post("/organizations", { name: "Now" }, "short")).json.error?.code).toBe(
      "invalid_idempotency_key",
    );
    await Promise.all([post("/organizations", { name: "Twice" }), post("/organizations", { name: "Twice" })]);
    expect(await named("Twice")).toBe(2);
  });
});
