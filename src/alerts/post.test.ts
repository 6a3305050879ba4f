import { expect, test } from "bun:test";
import { post } from "./post.ts";

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
