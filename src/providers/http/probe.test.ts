import { expect, test } from "bun:test";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { trustAnyone } from "../../../test/support/certificate.ts";
import { TunnelProxy } from "../../../test/support/tunnel-proxy.ts";
import { waitFor } from "../../../test/support/wait.ts";
import { ConnectProbe } from "./probe.ts";
import { failureOf, startUpstream } from "../openai/openai.fixtures.ts";
import { openAiCodec } from "../openai/codec.ts";
import { DIALECTS } from "../openai/dialects.ts";
import { send } from "./call.ts";
import { CallTimeouts } from "./timeouts.ts";

const never = (): Promise<void> => new Promise(() => {});
const FAR = { firstTokenMs: 5000, idleMs: 5000, totalMs: 5000 };

test("a host that takes no connection in time is proof that nothing ran", async () => {
  const probe = new ConnectProbe("https://example.invalid/v1", 5, null, never);
  expect(await probe.check()).toMatchObject({ reason: "connect_timeout", executed: "no" });
});

test("who gives up while the host is silent has sent nothing", async () => {
  await using upstream = await startUpstream(() => {});
  const abort = new AbortController();
  const timeouts = new CallTimeouts(abort.signal, FAR);
  const connectProbe = new ConnectProbe(upstream.url, 5000, null, never);
  const codec = openAiCodec({ family: "acme", authorize: () => ({}), dialect: DIALECTS.openai });
  const failure = failureOf(
    send({ url: upstream.url, method: "POST", headers: {} }, { proxy: null, connectProbe, codec }, timeouts),
  );
  abort.abort();
  expect(await failure).toMatchObject({ reason: "aborted", executed: "no" });
  expect(upstream.got).toHaveLength(0);
  timeouts.end();
});

test("the host and port come from the address, with the scheme's port where it names none", async () => {
  const asked: unknown[] = [];
  const open = (host: unknown, handshake: boolean): Promise<void> => {
    asked.push({ ...(host as object), handshake });
    return Promise.resolve();
  };
  for (const url of ["https://a.example/v1", "http://a.example/v1", "http://[::1]:8080/v1"])
    expect(await new ConnectProbe(url, 1000, null, open).check()).toBeNull();
  expect(asked).toEqual([
    { hostname: "a.example", port: 443, handshake: true },
    { hostname: "a.example", port: 80, handshake: false },
    { hostname: "::1", port: 8080, handshake: false },
  ]);
});

test("whoever answered lately is not probed", async () => {
  const probe = new ConnectProbe("http://a.example/v1", 5, null, never);
  probe.answered();
  expect(probe.check()).toBeNull();
});

test("TLS is asked for until the host has answered, and again after a connection was lost", async () => {
  const handshakes: boolean[] = [];
  const probe = new ConnectProbe("https://a.example/v1", 1000, null, (_, handshake) => {
    handshakes.push(handshake);
    return Promise.resolve();
  });
  await probe.check();
  probe.suspect();
  await probe.check();
  expect(probe.check()).toBeNull();
  expect(handshakes).toEqual([true, true]);
});

test("who takes a connection and says nothing is left after the limit: nothing stays open", async () => {
  const open = new Set<Socket>();
  let taken = 0;
  const deaf = createServer((socket) => {
    taken += 1;
    open.add(socket);
    socket.resume();
    socket.on("error", () => {});
    socket.once("close", () => open.delete(socket));
  });
  await new Promise<void>((listening) => deaf.listen(0, "127.0.0.1", listening));
  const { port } = deaf.address() as AddressInfo;
  const at = `127.0.0.1:${port}`;
  for (const probe of [
    new ConnectProbe(`https://${at}/v1`, 100),
    new ConnectProbe("https://api.example/v1", 100, `http://${at}`),
    new ConnectProbe("https://api.example/v1", 100, `https://${at}`),
  ]) {
    taken = 0;
    expect(await probe.check()).toMatchObject({ reason: "connect_timeout", executed: "no" });
    await waitFor(async () => taken === 1 && open.size === 0, "the end of the probe's connection");
  }
  deaf.close();
});

test.each([false, true])(
  "through a proxy, reached by TLS: %p, TLS is asked for in the tunnel",
  async (secure) => {
    const trust = trustAnyone();
    const network = await TunnelProxy.start({ secure });
    try {
      const opens = (): Promise<unknown> =>
        Promise.resolve(new ConnectProbe("https://api.upstream.test/v1", 5000, network.url).check());
      expect(await opens()).toBeNull();
      network.mood = { status: "407 Proxy Authentication Required" };
      expect(await opens()).toMatchObject({
        reason: "connect",
        executed: "no",
        message: "the proxy opened no connection to the upstream (407)",
      });
      network.mood = "deaf";
      expect(await opens()).toMatchObject({ reason: "connect", executed: "no" });
    } finally {
      network.stop();
      trust.restore();
    }
  },
);
