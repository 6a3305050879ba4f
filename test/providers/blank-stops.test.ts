// A stop sequence of only whitespace, which Claude never accepts: refused under the caller's name for it before
// anything is held, unless another route accepts it. If it were dropped, the answer would continue past it
// (docs/decisions/0072-a-stop-that-cannot-be-told.md).
import { afterAll, beforeAll, expect, test } from "bun:test";
import { addFaces } from "../support/faces.ts";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";
import { ON_EVERY_SHAPE, onProvider, PREVIEW_V1 } from "../support/models.ts";

const on = (provider: string, model: string, upstream_model: string) =>
  onProvider({ ...PREVIEW_V1, model, upstream_model }, provider);
const ROUTES = [
  ...ON_EVERY_SHAPE,
  on("aws", "on-aws", "anthropic.claude-opus-4-5-v1:0"),
  on("aws", "on-nova", "amazon.nova-pro-v1:0"),
  { ...on("gemini", "on-both", "gemini-3.8-flash"), priority: 2 },
  { ...on("claude", "on-both", "claude-opus-4-5"), priority: 1 },
];

let gateway: TestGateway;
let customer: Customer;
beforeAll(async () => {
  gateway = await startGateway({ configure: addFaces, models: ROUTES });
  customer = await gateway.customer({ usd: "50" });
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
});

const SURFACES = {
  "/v1/chat/completions": (stop: string[]) => ({ messages: [{ role: "user", content: "Hi" }], stop }),
  "/v1/completions": (stop: string[]) => ({ prompt: "Hi", stop }),
  "/v1/messages": (stop: string[]) => ({ messages: [{ role: "user", content: "Hi" }], stop_sequences: stop }),
};
type Surface = keyof typeof SURFACES;

async function ask(path: Surface, model: string, stop: string[]) {
  const response = await fetch(`${gateway.url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${customer.secret}`, "content-type": "application/json" },
    body: JSON.stringify({ model, max_tokens: 60, ...SURFACES[path](stop) }),
  });
  const { error } = (await response.json()) as { error?: { code: string; param: string; message: string } };
  const ignored = response.headers.get("x-gw-ignored-parameters");
  return {
    status: response.status,
    code: error?.code,
    param: error?.param,
    ignored,
    message: error?.message,
  };
}

test.each(Object.keys(SURFACES) as Surface[])(
  "%s: refused at Claude by its name here, free of charge",
  async (path) => {
    const calls = gateway.simulator.bill().length;
    const before = await gateway.balance(customer);
    const name = path === "/v1/messages" ? "stop_sequences" : "stop";
    for (const model of ["on-claude", "on-aws"]) {
      const told = await ask(path, model, ["END", " \n"]);
      expect(told).toMatchObject({
        status: 400,
        code: "unsupported_value",
        param: `${name}[1]`,
        ignored: null,
      });
      expect(told.message).toBe(
        `\`${name}[1]\` contains only blanks, at which model \`${model}\` cannot stop. Remove it, or use another model.`,
      );
    }
    expect(gateway.simulator.bill()).toHaveLength(calls);
    expect(await gateway.balance(customer)).toEqual(before);
  },
);

test.each(Object.keys(SURFACES) as Surface[])(
  "%s: sent unchanged to a provider that accepts it",
  async (path) => {
    for (const model of ["on-openai", "on-gemini", "on-nova"])
      expect(await ask(path, model, ["\n"])).toMatchObject({ status: 200, ignored: null });
    for (const model of ["on-claude", "on-aws"])
      expect(await ask(path, model, ["\nEND"])).toMatchObject({ status: 200, ignored: null });
  },
);

test("a model with another route is served by the one that accepts it", async () => {
  for (const path of Object.keys(SURFACES) as Surface[]) {
    expect(await ask(path, "on-both", ["\n"])).toMatchObject({ status: 200, ignored: null });
    expect(gateway.simulator.bill().at(-1)?.model).toBe("gemini-3.8-flash");
  }
});
