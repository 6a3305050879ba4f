// The control: what Bun itself costs as a proxy. Bun.serve and fetch, without any logic (performance.md §1).
const upstream = process.env["UPSTREAM"] ?? "";

const server = Bun.serve({
  port: Number(process.env["PORT"] ?? 0),
  hostname: "127.0.0.1",
  idleTimeout: 0,
  fetch: async (request) => {
    const answer = await fetch(upstream + new URL(request.url).pathname, {
      method: request.method,
      headers: {
        "content-type": "application/json",
        authorization: request.headers.get("authorization") ?? "",
      },
      body: await request.arrayBuffer(),
      signal: request.signal,
    });
    return new Response(answer.body, {
      status: answer.status,
      headers: { "content-type": answer.headers.get("content-type") ?? "application/json" },
    });
  },
});
console.log(`ready ${server.port}`);
