// Sends raw bytes to a server and reads the answer, for requests that no client library would send.
import { connect, type Socket } from "node:net";

/** A busy machine may be slow; if no answer is possible, the wait also lasts this long. */
const FIRST_BYTE_MS = 20_000;

/** A connection to the server; if it breaks, only a test that checks for it fails. */
export function openSocket(url: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  return socket;
}

/**
 * Sends `text` (Latin-1) and returns everything that comes back until the server closes, or is silent for `quietMs`.
 */
export function exchange(url: string, text: string, quietMs = 400): Promise<string> {
  return new Promise((resolve, reject) => {
    let reply = "";
    const socket = openSocket(url);
    socket.write(Buffer.from(text, "latin1"));
    socket.setTimeout(FIRST_BYTE_MS, () => socket.destroy());
    socket.on("data", (bytes) => {
      socket.setTimeout(quietMs);
      reply += bytes.toString("latin1");
    });
    socket.on("error", (error: NodeJS.ErrnoException) =>
      error.code === "ECONNRESET" ? resolve(reply) : reject(error),
    );
    socket.on("close", () => resolve(reply));
  });
}

/** The status of the first answer in raw bytes; 0 if there is none. */
export const statusOf = (reply: string): number => Number(/^HTTP\/1\.[01] (\d{3})/.exec(reply)?.[1] ?? 0);
