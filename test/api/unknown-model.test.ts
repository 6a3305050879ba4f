// The cost of calling an unknown model: if no other gateway could have published it, there is no second look.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Customer, hello, startGateway, type TestGateway } from "../support/gateway.ts";
import { scrape } from "../support/scrape.ts";

let gateway: TestGateway;
let customer: Customer;
beforeAll(async () => {
  gateway = await startGateway({ store: "sqlite" });
  customer = await gateway.customer();
});
afterAll(() => gateway.stop());

/** The number of operations in commits since the start. */
async function carried(): Promise<number> {
  const { samples } = await scrape(gateway.url);
  return samples.find(({ name }) => name === "tollgate_commit_operations_sum")?.value ?? Number.NaN;
}

test("on SQLite an unknown model is one decision of the ledger", async () => {
  const before = await carried();
  for (let call = 0; call < 3; call += 1) {
    const { status, json } = await gateway.chat(customer, hello("no-such-model"));
    expect([status, json["error"]]).toMatchObject([404, { code: "model_not_found" }]);
  }
  expect((await carried()) - before).toBe(3);
});
