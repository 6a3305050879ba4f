// Records a client's requests on their way to the gateway; also a proxy for requests to any other host.
import { createServer, type Server } from "node:http";

export interface Asked {
  method: string;
  /** With its query. */
  path: string;
  headers: Record<string, string>;
  /** Null if it is not JSON. */
  body: Record<string, unknown> | null;
  status: number;
  /** The answer's list of request fields that were not used. */
  ignored: string | null;
}

export interface Recorder {
  url: string;
  asked: Asked[];
  stop(): Promise<void>;
}

/** Passes everything on unchanged, in both directions. */
export function recordingIn(target: () => string): Recorder {
  const asked: Asked[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 120,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const text = await request.text();
      const headers = new Headers(request.headers);
      for (const name of ["host", "connection", "content-length"]) headers.delete(name);
      const answer = await fetch(`${target()}${pathname}${search}`, {
        method: request.method,
        headers,
        ...(text !== "" && { body: text }),
        signal: request.signal,
      });
      asked.push({
        method: request.method,
        path: `${pathname}${search}`,
        headers: Object.fromEntries(request.headers),
        body: text.startsWith("{") ? (JSON.parse(text) as Record<string, unknown>) : null,
        status: answer.status,
        ignored: answer.headers.get("x-gw-ignored-parameters"),
      });
      const back = new Headers(answer.headers);
      for (const name of ["content-encoding", "content-length", "connection"]) back.delete(name);
      return new Response(answer.body, { status: answer.status, headers: back });
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, asked, stop: () => server.stop(true) };
}

export interface Elsewhere {
  /** As an HTTP proxy. */
  url: string;
  /** Hosts that were requested. */
  asked: string[];
  stop(): Promise<void>;
}

/** A proxy for all hosts but this machine: it refuses everything, and records the hosts. */
export async function elsewhere(): Promise<Elsewhere> {
  const asked: string[] = [];
  const server: Server = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.writeHead(502).end();
  });
  server.on("connect", ({ url }, socket) => {
    asked.push(url ?? "");
    socket.on("error", () => undefined); // the client may be gone
    socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the proxy has no port");
  const stop = (): Promise<void> =>
    new Promise((stopped) => {
      server.close(() => stopped());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${address.port}`, asked, stop };
}
