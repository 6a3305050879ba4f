import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { isException, type OutboundProxy, proxyTo, takeProxy } from "./outbound.ts";
import { TunnelProxy } from "../../test/support/tunnel-proxy.ts";

/** Exceptions, a host, and whether the host is reached directly. */
const WAYS: [string[], string, boolean][] = [
  [[], "a.test", false],
  [[], "localhost", true],
  [[], "127.0.0.1", true],
  [[], "127.3.2.1", true],
  [[], "[::1]", true],
  [["b.test"], "b.test", true],
  [["B.test"], "b.test", true],
  [["b.test"], "x.y.b.test", true],
  [["b.test"], "xb.test", false],
  [["b.test"], "b.test.example", false],
  [[".b.test"], "b.test", true],
  [["*.b.test"], "x.b.test", true],
  [["c.test", "b.test"], "b.test", true],
  [["10.0.0.5"], "10.0.0.5", true],
  [["10.0.0.5"], "10.0.0.50", false],
  [["10.0.0.0/8"], "10.9.8.7", true],
  [["10.0.0.0/8"], "11.0.0.1", false],
  [["fd00::/8"], "[fd12::1]", true],
  [["fd00::/8"], "[fe80::1]", false],
];

test.each(WAYS)("beside %j, %s is reached directly: %p", (except, host, directly) => {
  const proxy = { url: "http://proxy.test:3128/", except };
  expect(except.every(isException)).toBeTrue();
  expect(proxyTo(`https://${host}/v1`, proxy)).toBe(directly ? null : proxy.url);
  expect(proxyTo(`http://${host}/v1`, proxy)).toBeNull();
  expect(proxyTo(`https://${host}/v1`, null)).toBeNull();
});

test.each(["", " ", "*", "b.test:443", "https://b.test", "a b", "b.test,c.test", "10.0.0.0/40", "b..test"])(
  "%j is no exception",
  (text) => expect(isException(text)).toBeFalse(),
);

describe("libraries' fetch", () => {
  let network: TunnelProxy;
  const before = { ...process.env };
  beforeAll(async () => {
    network = await TunnelProxy.start();
    network.mood = { status: "403 Forbidden" };
  });
  afterAll(() => {
    network.stop();
    for (const name of ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"])
      for (const spelled of [name, name.toLowerCase()])
        if (before[spelled] === undefined) delete process.env[spelled];
        else process.env[spelled] = before[spelled];
  });

  /** True if the proxy was asked. */
  async function asks(url: string, proxy: OutboundProxy | null): Promise<boolean> {
    takeProxy(proxy, process.env);
    network.asked.length = 0;
    // No such host is reached directly from here within the time.
    await fetch(url, { signal: AbortSignal.timeout(200) }).catch(() => {});
    return network.asked.length > 0;
  }

  test.each(WAYS)("beside %j, %s takes the same way", async (except, host, directly) => {
    expect(await asks(`https://${host}:9/`, { url: network.url, except })).toBe(!directly);
  });

  test("what the environment said before is forgotten", async () => {
    process.env["HTTPS_PROXY"] = network.url;
    process.env["all_proxy"] = network.url;
    expect(await asks("https://a.test:9/", null)).toBeFalse();
  });
});
