// The TypeScript examples of README.md and docs/clients.md run unchanged against a real gateway.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";

const root = join(import.meta.dir, "../..");
const folder = mkdtempSync(join(root, "test/clients/.examples-"));
let gateway: TestGateway;
let customer: Customer;
beforeAll(async () => {
  gateway = await startGateway();
  customer = await gateway.customer({ usd: "100" });
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await gateway.assertSound();
  await gateway.stop();
});

const examples = ["README.md", "docs/clients.md"].flatMap((file) =>
  [...readFileSync(join(root, file), "utf8").matchAll(/```ts\n([\s\S]*?)```/g)].map((match, index) => ({
    name: `${file}, example ${index + 1}`,
    code: match[1] ?? "",
  })),
);

test("both have examples of three SDKs", () => {
  expect(examples).toHaveLength(6);
});

test.each(examples.map((example) => [example.name, example.code] as const))(
  "%s",
  async (_, code) => {
    const file = join(folder, `${crypto.randomUUID()}.ts`);
    writeFileSync(file, code.replaceAll("http://127.0.0.1:8080/v1", gateway.baseUrl));
    const before = gateway.simulator.bill().length;
    const child = Bun.spawn([process.execPath, file], {
      env: { ...process.env, TOLLGATE_URL: gateway.baseUrl, TOLLGATE_KEY: customer.secret },
      stdout: "pipe",
      stderr: "inherit",
    });
    const printed = await new Response(child.stdout).text();
    expect(await child.exited).toBe(0);
    expect(printed).toMatch(/\w{3}/);
    expect(gateway.simulator.bill().length - before).toBe(1);
  },
  120_000,
);
