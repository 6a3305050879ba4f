import { expect, test } from "bun:test";
import { askedOfProxy } from "../../../test/support/asked-of-proxy.ts";
import { failureOf } from "../openai/openai.fixtures.ts";
import { askLender, lender } from "./ask.ts";

test("who issues credentials is reached through the network's proxy; this machine's own endpoints directly", async () => {
  const ask = (url: string) =>
    failureOf(askLender(lender("the issuer", 5_000), url, { method: "GET", headers: {} }));
  const asked = await askedOfProxy(async () => {
    expect(await ask("https://issuer.test/token")).toMatchObject({ executed: "no" });
    await ask("http://127.0.0.1:9/latest/meta-data");
  });
  expect(asked).toEqual(["CONNECT issuer.test:443 HTTP/1.1"]);
});
