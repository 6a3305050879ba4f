// TLS failures, and what they prove (money.md §2): only a failure before the first byte of the request was written
// lets the next route try. Bun's fetch calls every TLS error a failed handshake, whenever it happens.
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { createServer as createTlsServer, type TlsOptions } from "node:tls";
import type { ErrorJson } from "../support/events.ts";
import { CERTIFICATE, trustAnyone } from "../support/certificate.ts";
import { type Customer, hello, startGateway, type TestGateway } from "../support/gateway.ts";
import { onProvider, PLAIN } from "../support/models.ts";

/** The peer of a client. `requests` counts the requests that arrived readable. */
interface Upstream {
  port: number;
  requests: number;
  /** Called with the client's raw connection once a request was read. */
  atRequest: (client: Socket) => void;
  stop(): void;
}

const listening = (server: {
  listen(port: number, host: string, done: () => void): unknown;
}): Promise<void> => new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));

/** TLS behind a relay that can break what comes back. */
async function startTls(options: TlsOptions): Promise<Upstream> {
  const clients = new Map<number, Socket>();
  const sockets = new Set<Socket>();
  const inner = createTlsServer({ ...CERTIFICATE, ...options }, (socket) => {
    socket.on("error", () => {});
    socket.once("data", () => {
      upstream.requests += 1;
      const client = clients.get(socket.remotePort ?? 0);
      if (client !== undefined) upstream.atRequest(client);
    });
  });
  inner.on("tlsClientError", () => {});
  await listening(inner);
  const relay = createServer((client) => {
    const onward = connect((inner.address() as AddressInfo).port, "127.0.0.1", () => {
      clients.set(onward.localPort ?? 0, client);
      client.pipe(onward);
      onward.pipe(client);
    });
    for (const socket of [client, onward]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.once("close", () => onward.destroy());
    }
  });
  await listening(relay);
  const upstream: Upstream = {
    port: (relay.address() as AddressInfo).port,
    requests: 0,
    atRequest: () => {},
    stop() {
      for (const socket of sockets) socket.destroy();
      relay.close();
      inner.close();
    },
  };
  return upstream;
}

/** A port that does not use TLS. */
async function startPlain(answer: (client: Socket) => void): Promise<{ port: number; stop(): void }> {
  const server = createServer((client) => {
    client.on("error", () => {});
    answer(client);
  });
  await listening(server);
  return { port: (server.address() as AddressInfo).port, stop: () => void server.close() };
}

const VERSIONS = ["TLSv1.3", "TLSv1.2"] as const;
let gateway: TestGateway;
let customer: Customer;
let sound: Upstream[];
let deaf: { port: number; stop(): void };
let refusing: { port: number; stop(): void };
const trust = trustAnyone();
beforeAll(async () => {
  sound = await Promise.all(
    VERSIONS.map((version) => startTls({ minVersion: version, maxVersion: version })),
  );
  deaf = await startPlain((client) => client.on("data", () => client.destroy()));
  refusing = await startPlain((client) => client.on("data", () => client.end("HTTP/1.1 400 X\r\n\r\n")));
  const ports = { v13: sound[0]?.port, v12: sound[1]?.port, deaf: deaf.port, refusing: refusing.port };
  const at = Object.entries(ports).map(([name, port]) => [name, `https://127.0.0.1:${port}/v1`] as const);
  gateway = await startGateway({
    providers: Object.fromEntries(at),
    models: at.flatMap(([name]) => [
      onProvider({ ...PLAIN, model: `on-${name}` }, name, { priority: 0 }),
      onProvider({ ...PLAIN, model: `on-${name}` }, "simulator", { priority: 1 }),
    ]),
    configure: (config) => {
      for (const provider of config.providers)
        provider.health = { ...provider.health, openAfterFailures: 1000 };
    },
  });
  customer = await gateway.customer({ usd: "100" });
});
beforeEach(() => {
  for (const upstream of sound) upstream.requests = 0;
});
afterAll(async () => {
  trust.restore();
  await gateway.assertSound();
  await gateway.stop();
  for (const server of [...sound, deaf, refusing]) server.stop();
});

const RECORD = (type: number, body: Buffer): Buffer =>
  Buffer.concat([Buffer.from([type, 3, 3, 0, body.length]), body]);

const AFTER_THE_REQUEST: [string, (client: Socket) => void][] = [
  ["bytes that are no record", (client) => client.end("this is no record at all")],
  ["a fatal alert in the clear", (client) => client.end(RECORD(0x15, Buffer.from([2, 80])))],
  ["a record that nobody sealed", (client) => client.end(RECORD(0x17, Buffer.alloc(40, 7)))],
  ["another handshake", (client) => client.end(RECORD(0x16, Buffer.alloc(40, 7)))],
  ["a reset", (client) => void client.resetAndDestroy()],
  ["an end without a word", (client) => void client.end()],
];

for (const [at, version] of VERSIONS.entries()) {
  test.each(AFTER_THE_REQUEST)(
    `${version}: after a request was read, %s proves nothing: no other provider is asked, nothing is charged`,
    async (_, breakIt) => {
      const upstream = sound[at];
      if (upstream === undefined) throw new Error("no upstream");
      upstream.atRequest = breakIt;
      const calls = gateway.simulator.bill().length;
      const before = await gateway.balance(customer);
      const model = at === 0 ? "on-v13" : "on-v12";
      const reply = await gateway.chat<ErrorJson>(customer, hello(model));
      expect([reply.status, reply.json.error.code]).toEqual([502, "provider_error"]);
      expect(reply.headers.get("x-should-retry")).toBe("false");
      expect(upstream.requests).toBe(1);
      expect(gateway.simulator.bill()).toHaveLength(calls);
      expect(await gateway.balance(customer)).toEqual(before);
    },
  );
}

test.each(["on-deaf", "on-refusing"])(
  "%s: a handshake that never stands is proof, so the next provider serves",
  async (model) => {
    for (let n = 0; n < 2; n += 1) {
      const reply = await gateway.chat<{ gateway: { provider: string } }>(customer, hello(model));
      expect([reply.status, reply.json.gateway.provider]).toEqual([200, "simulator"]);
    }
  },
);

test("an untrusted certificate is proof: no byte of the request was written", async () => {
  trust.restore();
  const [upstream] = sound;
  if (upstream === undefined) throw new Error("no upstream");
  upstream.atRequest = () => {};
  try {
    const reply = await gateway.chat<{ gateway: { provider: string } }>(customer, hello("on-v13"));
    expect([reply.status, reply.json.gateway.provider]).toEqual([200, "simulator"]);
    expect(upstream.requests).toBe(0);
  } finally {
    process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
  }
});
