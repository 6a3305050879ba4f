import { expect, test } from "bun:test";
import { type AddressInfo, createServer } from "node:net";
import { CERTIFICATE } from "../../test/support/certificate.ts";
import { post } from "./post.ts";
import { TRY_MS } from "./sent.ts";

const message = { body: "{}", headers: { "webhook-id": "msg_1" } };

test("the call goes to the address that was checked, with the name as its host", async () => {
  const seen: string[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) => {
      seen.push(`${request.method} ${request.headers.get("host")} ${request.headers.get("webhook-id")}`);
      return new Response("a body that nobody reads", { status: 201 });
    },
  });
  const asked: string[] = [];
  const resolveHost = async (host: string): Promise<string[]> => {
    asked.push(host);
    return ["127.0.0.1"];
  };
  const target = `http://alerts.internal:${server.port}/x`;
  expect(await post(target, message, { privateTargets: true, resolveHost })).toEqual({
    kind: "delivered",
    status: 201,
  });
  expect([asked, seen]).toEqual([["alerts.internal"], [`POST alerts.internal:${server.port} msg_1`]]);
  await server.stop(true);
});

test("a name that now resolves to this machine is not called", async () => {
  const resolveHost = async (): Promise<string[]> => ["127.0.0.1"];
  expect(await post("https://hooks.example.com/", message, { privateTargets: false, resolveHost })).toEqual({
    kind: "refused",
    status: null,
    error: "The target must not be an address of a private network or of this machine.",
  });
});

test("a refused connection is a failure, explained in a sentence", async () => {
  expect(await post("http://127.0.0.1:1/", message, { privateTargets: true })).toMatchObject({
    kind: "failed",
    error: expect.stringContaining("No connection"),
  });
});

test("a receiver's compressed answer is never decompressed", async () => {
  const bomb = Bun.zstdCompressSync(Buffer.alloc(400 * 1024 * 1024));
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => new Response(bomb, { headers: { "content-encoding": "zstd" } }),
  });
  const before = process.memoryUsage.rss();
  let peak = before;
  const timer = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 5);
  for (let call = 0; call < 10; call += 1)
    expect(await post(server.url.href, message, { privateTargets: true })).toMatchObject({
      kind: "delivered",
    });
  clearInterval(timer);
  expect(peak - before).toBeLessThan(100 * 1024 * 1024);
  await server.stop(true);
});

/** A receiver in a process of its own that answers with interim responses without end. */
const ENDLESS = `require("node:net").createServer((socket) => {
  const interim = Buffer.from("HTTP/1.1 100 Continue\\r\\n\\r\\n".repeat(2_000));
  const more = () => { while (!socket.destroyed && socket.write(interim)); };
  socket.on("error", () => {}).on("drain", more).once("data", more);
}).listen(0, "127.0.0.1", function () { console.log(this.address().port); });`;

test("an answer that never begins is not read for long, and delays no other call", async () => {
  const endless = Bun.spawn([process.execPath, "-e", ENDLESS], { stdout: "pipe" });
  const { value } = await endless.stdout.getReader().read();
  const target = `http://127.0.0.1:${new TextDecoder().decode(value).trim()}/`;
  const began = performance.now();
  const sent = await Promise.all(
    Array.from({ length: 5 }, () => post(target, message, { privateTargets: true })),
  ).finally(() => endless.kill());
  expect(performance.now() - began).toBeLessThan(TRY_MS);
  expect(sent[0]).toEqual({ kind: "failed", status: null, error: "No connection (no HTTP response)." });
}, 120_000);

test.each([
  ["HTTP/1.1 200 OK\r\n\r\n", 200],
  ["HTTP/1.0 404\r\n\r\n", 404],
  [
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
    204,
  ],
  ["HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nno chunk", 200],
  ["HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n\r\n", null],
  ["HTTP/2 200\r\n\r\n", null],
  ["HTTP/1.1 999 Odd\r\n\r\n", null],
  ["220 mail.example.com ESMTP\r\n", null],
  ["", null],
])("of %j, in pieces of one byte, the status is %p", async (answer, status) => {
  const server = createServer((socket) => {
    socket.on("error", () => {}); // the other side leaves when it has the status
    const trickle = async (): Promise<void> => {
      for (const byte of answer) {
        socket.write(byte);
        await Bun.sleep(0);
      }
      socket.end();
    };
    socket.once("data", () => void trickle());
  }).listen(0, "127.0.0.1");
  const { port } = server.address() as AddressInfo;
  const sent = await post(`http://127.0.0.1:${port}/`, message, { privateTargets: true });
  expect(sent.status).toBe(status);
  if (status === null)
    expect(sent).toMatchObject({ kind: "failed", error: "No connection (no HTTP response)." });
  server.close();
});

test("a certificate that nobody vouches for is refused before anything is sent", async () => {
  let called = 0;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    tls: CERTIFICATE,
    fetch: () => {
      called += 1;
      return new Response();
    },
  });
  expect(await post(`https://127.0.0.1:${server.port}/`, message, { privateTargets: true })).toMatchObject({
    kind: "failed",
    error: expect.stringContaining("The certificate is not valid"),
  });
  expect(called).toBe(0);
  await server.stop(true);
});
