// The age of a sign-in, if the machine's clock is moved: twelve hours are twelve hours of the store's clock, and a
// sign-in from the future has an unknown age.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Browser, firstOperator, PASSWORD } from "../support/browser.ts";
import { testClock } from "../support/clock.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";
import { HOUR_MS } from "../support/wait.ts";

const clock = testClock();
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ clock });
  await firstOperator(gateway);
});
afterAll(() => gateway.stop());

async function signedIn(): Promise<Browser> {
  const browser = new Browser(gateway.url);
  await browser.send("POST", "/auth/sign-in/email", { email: "root@example.com", password: PASSWORD });
  return browser;
}

const changes = async (browser: Browser): Promise<number | string> => {
  const { status, json } = await browser.try("POST /operator/organizations", {}, { name: "Lab" });
  return status < 400 ? status : json.error.code;
};

test("after twelve hours it is asked for again, and not before", async () => {
  const root = await signedIn();
  clock.pass(12 * HOUR_MS - 60_000);
  expect(await changes(root)).toBe(201);
  clock.pass(120_000);
  expect(await changes(root)).toBe("sign_in_again");
  expect(await changes(await signedIn())).toBe(201);
});

test("a clock that is put back does not make it younger, and signing in again is enough", async () => {
  const root = await signedIn();
  clock.advance(-10 * HOUR_MS);
  expect(await changes(root)).toBe("sign_in_again");
  expect(await changes(await signedIn())).toBe(201);
});

test("putting it back by a second is ignored", async () => {
  const root = await signedIn();
  clock.advance(-1_000);
  expect(await changes(root)).toBe(201);
});
