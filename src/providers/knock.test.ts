import { expect, test } from "bun:test";
import { Knock } from "./knock.ts";
import { failureOf, startUpstream } from "./provider.fixtures.ts";
import { send } from "./upstream-call.ts";
import { Watch } from "./watch.ts";

const never = (): Promise<void> => new Promise(() => {});
const FAR = { firstTokenMs: 5000, idleMs: 5000, totalMs: 5000 };

test("a host that takes no connection in time is proof that nothing ran", async () => {
  const knock = new Knock("https://example.invalid/v1", 5, never);
  expect(await knock.answer()).toMatchObject({ reason: "connect_timeout", executed: "no" });
});

test("who gives up while the host is silent has sent nothing", async () => {
  await using upstream = await startUpstream(() => {});
  const abort = new AbortController();
  const watch = new Watch(abort.signal, FAR);
  const knock = new Knock(upstream.url, 5000, never);
  const failure = failureOf(send({ url: upstream.url, method: "POST", headers: {} }, { knock, watch }));
  abort.abort();
  expect(await failure).toMatchObject({ reason: "aborted", executed: "no" });
  expect(upstream.got).toHaveLength(0);
  watch.end();
});

test("the host and port come from the address, with the scheme's port where it names none", async () => {
  const knocked: unknown[] = [];
  const open = (host: unknown): Promise<void> => {
    knocked.push(host);
    return Promise.resolve();
  };
  for (const url of ["https://a.example/v1", "http://a.example/v1", "http://[::1]:8080/v1"])
    expect(await new Knock(url, 1000, open).answer()).toBeNull();
  expect(knocked).toEqual([
    { hostname: "a.example", port: 443 },
    { hostname: "a.example", port: 80 },
    { hostname: "::1", port: 8080 },
  ]);
});

test("whoever answered lately is not knocked at", async () => {
  const knock = new Knock("http://a.example/v1", 5, never);
  knock.heard();
  expect(knock.answer()).toBeNull();
});
