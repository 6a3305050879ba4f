// The access log of a whole gateway: who called, as far as it was proven, and why a call was refused.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createLog } from "../../src/lib/log.ts";
import { hello, startGateway, type TestGateway } from "../support/gateway.ts";
import { waitFor } from "../support/wait.ts";

interface Line {
  id?: string;
  status?: number;
  org?: string;
  code?: string;
}

let gateway: TestGateway;
const lines: Line[] = [];
beforeAll(async () => {
  gateway = await startGateway({
    log: createLog("info", { write: (line) => void lines.push(JSON.parse(line) as Line) }),
  });
});
afterAll(() => gateway.stop());

/** The line of the request with this id. */
async function lineOf(headers: Headers): Promise<Line> {
  const id = headers.get("x-request-id") ?? "";
  await waitFor(async () => lines.some((line) => line.id === id), "its line");
  const { status, org, code } = lines.find((line) => line.id === id) ?? {};
  return { ...(status !== undefined && { status }), ...(org && { org }), ...(code && { code }) };
}

test("answers and refusals of a proven key name its organization, refusals their code", async () => {
  const customer = await gateway.customer();
  const org = customer.organizationId;
  const chat = async (body: unknown = hello()): Promise<Line> =>
    await lineOf((await gateway.chat(customer, body)).headers);
  expect(await chat()).toEqual({ status: 200, org });
  const { headers } = await gateway.stream(customer, { ...hello(), stream: true });
  expect(await lineOf(headers)).toEqual({ status: 200, org });
  expect(await chat({ model: "plain-1" })).toEqual({ status: 400, org, code: "invalid_request" });
  expect(await chat(hello("no-such-model"))).toEqual({ status: 404, org, code: "model_not_found" });
  await gateway.admin("POST", "/limits", { key: customer.keyId, requests_per_minute: 1 });
  await chat();
  expect(await chat()).toEqual({ status: 429, org, code: "rate_limit_exceeded" });
  expect(await chat()).toEqual({ status: 429, org, code: "rate_limit_exceeded" }); // before its body
  expect(await lineOf((await gateway.get(customer, "/v1/key")).headers)).toEqual({ status: 200, org });
});

test("without a proven key no organization is named, whatever the caller claims", async () => {
  const { secret, ...customer } = await gateway.customer();
  const forged = `${secret.slice(0, -6)}aaaaaa`;
  for (const wrong of ["nonsense", forged]) {
    const { headers } = await gateway.chat({ ...customer, secret: wrong }, hello());
    expect(await lineOf(headers)).toEqual({ status: 401, code: "invalid_api_key" });
  }
  const unknown = await fetch(`${gateway.url}/admin/v1/nothing`);
  expect(await lineOf(unknown.headers)).toEqual({ status: unknown.status, code: expect.any(String) });
});
