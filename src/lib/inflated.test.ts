import { afterAll, beforeAll, expect, test } from "bun:test";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { constants, createBrotliCompress, createGzip, createZstdCompress } from "node:zlib";
import { inflated } from "./inflated.ts";

let server: Server;
const arrived: Socket[] = [];
beforeAll(async () => {
  server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => arrived.push(socket));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterAll(() => void server.close());

async function replied(coding: string): Promise<{ reply: Response; socket: Socket }> {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const asked = fetch(url, { decompress: false, keepalive: false });
  while (arrived.length === 0) await Bun.sleep(1);
  const socket = arrived.pop() as Socket;
  socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: ${coding}\r\ntransfer-encoding: chunked\r\n\r\n`);
  return { reply: inflated(await asked), socket };
}

const PACKERS = {
  gzip: () => createGzip(),
  br: () => createBrotliCompress(),
  zstd: () => createZstdCompress(),
};
const FLUSHES = {
  gzip: constants.Z_SYNC_FLUSH,
  br: constants.BROTLI_OPERATION_FLUSH,
  zstd: constants.ZSTD_e_flush,
};
type Coding = keyof typeof PACKERS;

test.each(Object.keys(PACKERS) as Coding[])(
  "%s is handed over as it arrives, and a reader that leaves ends the connection",
  async (coding) => {
    const { reply, socket } = await replied(coding);
    const packer = PACKERS[coding]();
    packer.on("data", (bytes: Buffer) => {
      socket.write(`${bytes.byteLength.toString(16)}\r\n`);
      socket.write(Buffer.concat([bytes, Buffer.from("\r\n")]));
    });
    const reader = (reply.body as ReadableStream<Uint8Array>).getReader();
    const decoder = new TextDecoder();
    for (const word of ["first", "second"]) {
      packer.write(word);
      packer.flush(FLUSHES[coding]);
      let got = "";
      while (got.length < word.length) got += decoder.decode((await reader.read()).value);
      expect(got).toBe(word);
    }
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    socket.on("close", () => resolve());
    await reader.cancel();
    await closed;
  },
);

test("a small compressed piece is inflated no further than it is read", async () => {
  const bomb = Bun.zstdCompressSync(Buffer.alloc(400 * 1024 * 1024));
  const { reply, socket } = await replied("zstd");
  socket.write(`${bomb.byteLength.toString(16)}\r\n`);
  socket.write(Buffer.concat([bomb, Buffer.from("\r\n0\r\n\r\n")]));
  const reader = (reply.body as ReadableStream<Uint8Array>).getReader();
  const before = process.memoryUsage.rss();
  expect((await reader.read()).value?.byteLength).toBeLessThanOrEqual(64 * 1024);
  await Bun.sleep(200); // during which nobody reads
  expect(process.memoryUsage.rss() - before).toBeLessThan(50 * 1024 * 1024);
  await reader.cancel();
});

test("a truncated body is an error", async () => {
  const { reply, socket } = await replied("gzip");
  const whole = Bun.gzipSync("a text that ends early");
  const part = whole.subarray(0, -9);
  socket.write(`${part.byteLength.toString(16)}\r\n`);
  socket.end(Buffer.concat([part, Buffer.from("\r\n0\r\n\r\n")]));
  const read = reply.text().then(
    () => "whole",
    () => "broken",
  );
  expect(await read).toBe("broken");
});

test("a reply without compression, or with an unknown one, is passed through", () => {
  const plain = new Response("text");
  const unknown = new Response("text", { headers: { "content-encoding": "gzip, br" } });
  expect([inflated(plain) === plain, inflated(unknown) === unknown]).toEqual([true, true]);
});
